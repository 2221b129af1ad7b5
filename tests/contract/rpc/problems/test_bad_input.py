"""Invalid input over the RPC: the error says what to correct, and is never internal."""

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from engine.rpc.json_body import MAX_BODY_BYTES
from engine.rpc.operations import OPERATIONS
from tests.harness.rpc.scene import CALL, TOKEN, RpcScene, raw
from wire.error_codes.catalogue import CATALOGUE

SAY = {"type": "say", "data": {"text": "x"}}


def nested(depth: int) -> dict[str, Any]:
    """Return an action tree of this depth."""
    tree: dict[str, Any] = {"type": "hangup", "data": {}}
    for _ in range(depth - 1):
        tree = {**SAY, "action": tree}
    return tree


def play(url: str) -> dict[str, Any]:
    return {"type": "play", "data": {"audioUrl": url}}


MISSPELLED = {"type": "play", "data": {"audioUrl": "https://x/y", "audioURL": "https://x/y"}}
FAULTS: list[tuple[Any, str]] = [
    (b'{"from":"+4711","to":"+4712"}', "account"),
    (b"{", ""),
    (b'{"account":"\xff"}', ""),
    (b"[]", ""),
    (b"null", ""),
    ({**CALL, "extra": 1}, "extra"),
    ({**CALL, "to": "x"}, "to"),
    ({**CALL, "to": "+4711111111\n+4722222222"}, "to"),
    ({**CALL, "to": "1001&PJSIP/1002"}, "to"),
    ({**CALL, "from": "agent:../x"}, "from"),
    ({**CALL, "account": "a\r\nb"}, "account"),
    ({**CALL, "callerId": '"Bob" <1>'}, "callerId"),
    ({**CALL, "timeout": 0}, "timeout"),
    ({**CALL, "timeout": -1}, "timeout"),
    ({**CALL, "timeout": 601}, "timeout"),
    ({**CALL, "timeout": "5"}, "timeout"),
    ({**CALL, "requestId": "short"}, "requestId"),
    ({**CALL, "requestId": "order-1234"}, "requestId"),
    ({**CALL, "requestId": "order_1234\n"}, "requestId"),
    ({**CALL, "action": {"type": "sing"}}, "action.type"),
    ({**CALL, "action": {"data": {}}}, "action.type"),
    ({**CALL, "action": "not an address"}, "action"),
    ({**CALL, "action": "http://example.com/"}, "action"),
    ({**CALL, "action": play("ftp://x/y")}, "action.data.audioUrl"),
    ({**CALL, "action": play("http://x/y")}, "action.data.audioUrl"),
    ({**CALL, "action": MISSPELLED}, "action.data.audioURL"),
    ({**CALL, "action": {"type": "say", "data": {"text": "x" * 4001}}}, "action.data.text"),
    ({**CALL, "action": {"type": "gather", "data": {"maxDigits": 0}}}, "action.data.maxDigits"),
    ({**CALL, "action": {"type": "dial", "data": {"number": "1;2"}}}, "action.data.number"),
    ({**CALL, "action": {"type": "dial", "data": {}}}, "action.data"),
    ({**CALL, "action": {**SAY, "action": {"type": "dial", "data": {}}}}, "action.action.data"),
    ({**CALL, "action": nested(51)}, "action" + ".action" * 50),
    ({**CALL, "recordCall": "yes"}, "recordCall"),
    ({**CALL, "recordCall": 1}, "recordCall"),
    ({**CALL, "recordCall": [True]}, "recordCall"),
    ({**CALL, "recordCall": {"enabled": True}}, "recordCall.enabled"),
    ({**CALL, "recordCall": {"enable": "true"}}, "recordCall.enable"),
    ({**CALL, "machineDetection": {"onMachine": "stop"}}, "machineDetection.onMachine"),
    ({**CALL, "machineDetection": {"onMachine": "http://a.b/"}}, "machineDetection.onMachine"),
    (
        {**CALL, "machineDetection": {"onMachine": {"type": "dial", "data": {}}}},
        "machineDetection.onMachine.data",
    ),
    (
        {**CALL, "fromFirst": True, "machineDetection": {"onMachine": {"type": "hangup"}}},
        "machineDetection.onMachine",
    ),
    ({**CALL, "customData": []}, "customData"),
    ({**CALL, "customData": {"n": 2**70}}, "customData"),
    ({**CALL, "customData": {"a": "x" * 20_000}}, "customData"),
    ({**CALL, "contact": {"n": -(2**70)}}, "contact"),
]


@pytest.mark.parametrize(("body", "path"), FAULTS, ids=range(len(FAULTS)))
async def test_bad_input_is_shown_with_its_path(scene: RpcScene, body: object, path: str) -> None:
    """Invalid input gets 400, never 422; errors[] has the path and what is wrong."""
    status, answer = await scene.request("POST", "/calls", body)
    assert status == 400
    assert answer["title"] == CATALOGUE[answer["code"]].title
    assert [fault["path"] for fault in answer["errors"]] == [path]
    assert answer["errors"][0]["message"]
    assert scene.pbx.lines == []


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"customData":{"a":'])
async def test_bottomless_bodies_are_bad_input(scene: RpcScene, opening: bytes) -> None:
    """No depth of nesting causes an internal error."""
    for times in (100, 1_000, 10_000):
        assert (await scene.problem("POST", "/calls", opening * times))[0] == 400
    deep = b'{"a":' * 400 + b"1" + b"}" * 400
    body = json.dumps(CALL).encode()[:-1] + b', "customData": ' + deep + b"}"
    assert await scene.problem("POST", "/calls", body) == (400, "too_deep")


async def test_a_body_has_a_size(scene: RpcScene) -> None:
    """A body above the maximum size gets 413."""
    body = b" " * (MAX_BODY_BYTES + 1)
    assert (await scene.problem("POST", "/calls", body))[0] == 413
    assert (await scene.problem("POST", "/flows/acme/f/check", body))[0] == 413


@pytest.mark.parametrize("encoding", [b"gzip", b"deflate", b"br", b"nonsense"])
async def test_a_body_packed_wrongly_is_not_our_fault(scene: RpcScene, encoding: bytes) -> None:
    """A body that does not match its Content-Encoding is a client error."""
    head = (
        b"POST /rpc/v1/calls HTTP/1.1\r\nAuthorization: Bearer " + TOKEN.encode() + b"\r\n"
        b"Content-Encoding: " + encoding + b"\r\nContent-Length: 4\r\n"
    )
    answer = await raw(scene, head, b"\x00\xff\x00\xff")
    assert re.match(rb"HTTP/1\.[01] 4[0-9]{2} ", answer), answer


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("DELETE", "/calls", 405),
        ("GET", "/calls/x/hangup", 405),
        ("GET", "/documents/acme/flow/none", 404),
    ],
)
async def test_what_is_not_there(scene: RpcScene, method: str, path: str, status: int) -> None:
    """Unknown paths and methods get problems, too."""
    assert (await scene.problem(method, path))[0] == status


METHODS = [
    (each.method, re.sub(r"[{}]", "", each.path)) for each in OPERATIONS if each.request is not None
]
WORDS = some.sampled_from(
    [*CALL, "action", "type", "data", "customData", "requestId", "number", "channelId", "target"]
)
VALUES = some.one_of(
    some.none(), some.integers(), some.text(max_size=8), some.sampled_from([*CALL.values(), "dial"])
)
BODIES = some.one_of(
    some.binary(max_size=60),
    some.recursive(
        VALUES, lambda inner: some.dictionaries(WORDS, inner, max_size=4), max_leaves=8
    ).map(lambda value: json.dumps(value).encode()),
    some.dictionaries(WORDS, VALUES, max_size=3).map(lambda d: json.dumps({**CALL, **d}).encode()),
)


async def test_no_body_is_a_fault_of_ours(scene: RpcScene) -> None:
    """Random bodies for every operation get a status below 500."""
    bodies: list[tuple[str, str, bytes]] = []

    @settings(
        max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(some.sampled_from(METHODS), BODIES)
    def collect(operation: tuple[str, str], body: bytes) -> None:
        bodies.append((*operation, body))

    collect()
    for method, path, body in bodies:
        status, _ = await scene.request(method, path, body)
        assert status < 500, (method, path, body)
