"""Calls over REST: both forms of click-to-call, rejected requests, and account isolation."""

from typing import Any

import msgspec
import pytest

from engine.calls.model.call_states import Starting
from tests.harness.api.rest import CUSTOMER, OTHERS, OURS, Rest
from tests.harness.rpc.scene import created
from wire.tree import parse_action

CALL = "/srmain/voice/call"
SAY = {"type": "say", "data": {"text": "hello"}}
BODY = {"from": OURS, "to": CUSTOMER, "action": SAY}


async def call_of(rest: Rest, **request_body: Any) -> Any:
    """Start a call; return the engine's call."""
    answer = await rest.post(CALL, **{**BODY, **request_body})
    assert answer["reqId"] == answer["callId"]
    call = await rest.scene.service.read(answer["callId"])
    assert call is not None
    return call


async def test_a_call_from_an_own_number_calls_to(rest: Rest) -> None:
    """`to` is called with `from` as caller id, with or without its plus."""
    for number in (OURS, OURS.removeprefix("+")):
        call = await call_of(rest, **{"from": number})
        assert (call.account, call.from_, call.to, call.caller_id) == (
            "acme",
            OURS,
            CUSTOMER,
            OURS,
        )
        assert [leg.party for leg in call.legs] == [CUSTOMER]


@pytest.mark.parametrize("party", ["agent:1001", "+4733333333", OTHERS])
async def test_a_call_from_a_party_calls_it_first(rest: Rest, party: str) -> None:
    """Any other `from` is called first, with the account's number as caller id."""
    call = await call_of(rest, **{"from": party})
    assert [leg.party for leg in call.legs] == [party]
    assert (call.from_, call.to, call.caller_id) == (party, CUSTOMER, OURS)


@pytest.mark.parametrize("fields", [True, {"enable": True}])
async def test_record_call_has_two_forms(rest: Rest, fields: object) -> None:
    """Both are accepted, and fail only because this engine has no archive."""
    request_body = {**BODY, "recordCall": fields}
    assert (await rest.rejected("POST", CALL, request_body))[:2] == (503, "no_archive")


async def test_everything_reaches_the_engine(rest: Rest) -> None:
    """The engine's call has contact, custom data, timeout and the URL as action."""
    call = await call_of(
        rest,
        action="https://example.com/next",
        fallback=SAY,
        customData={"order": 1},
        contact={"fName": "Ada"},
        timeout=7,
        statusCallbackUrl="grpc://callbacks.example:50051",
    )
    assert (call.custom_data, call.contact) == ({"order": 1}, {"fName": "Ada"})
    assert call.legs[0].ring_timeout_s == 7
    assert isinstance(call.state, Starting)
    assert call.state.fallback == parse_action(msgspec.json.encode(SAY))


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"from": None}, "from"),
        ({"to": None}, "to"),
        ({"to": ""}, "to"),
        ({"to": "+1"}, "to"),
        ({"to": "+999"}, "to"),
        ({"to": "sip:me@evil.example"}, "to"),
        ({"timeout": -1}, "timeout"),
        ({"timeout": "soon"}, "timeout"),
        ({"statusCallbackUrl": "https://example.com/told"}, "statusCallbackUrl"),
        ({"statusCallbackUrl": "http://example.com/told"}, "statusCallbackUrl"),
        ({"statusCallbackUrl": "grpc://x:99999"}, "statusCallbackUrl"),
        ({"statusCallbackUrl": "xyz"}, "statusCallbackUrl"),
        ({"statusCallbackUrl": "0123456789abcdef01234567"}, "statusCallbackUrl"),
        ({"recordCall": "yes"}, "recordCall"),
        ({"customData": []}, "customData"),
        ({"nonsense": 1}, "nonsense"),
        ({"action": {"type": "sing"}}, "action.type"),
        ({"action": {"type": "play", "data": {}}}, "action.data.audioUrl"),
        ({"action": "http://example.com/insecure"}, "action"),
        ({"fallback": {"type": "play", "data": {}}}, "fallback.data.audioUrl"),
        ({"fallback": {"type": "dial", "data": {"number": "+1"}}}, "fallback.data.number"),
        ({"fallback": {"type": "flow", "data": {"flowId": "no"}}}, "fallback.data.flowId"),
        ({"fallback": SAY, "from": "agent:1001"}, "fallback"),
        ({"action": {**SAY, "action": {"type": "dial", "data": {}}}}, "action.action.data"),
        (
            {"action": {"type": "dial", "data": {"number": "+1"}}},
            "action.data.number",
        ),
        (
            {"action": {"type": "dial", "data": {"number": CUSTOMER, "callerId": OTHERS}}},
            "action.data.callerId",
        ),
    ],
)
async def test_bad_input_names_its_field(rest: Rest, change: dict[str, Any], path: str) -> None:
    """It gets 400, never 422, with the path of the field; no call is started."""
    request_body = {name: value for name, value in {**BODY, **change}.items() if value is not None}
    status, _code, paths = await rest.rejected("POST", CALL, request_body)
    assert (status, paths) == (400, [path])
    assert created(rest.scene) == []


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'"x"', b"null", b"[" * 100_000])
async def test_a_body_that_is_not_a_json_object_is_rejected(rest: Rest, body: bytes) -> None:
    """It gets 400."""
    assert (await rest.rejected("POST", CALL, body))[0] == 400


async def test_large_bodies_are_rejected(rest: Rest) -> None:
    """A tree of more than 64 KiB is an error of the tree; a huge body is not read."""
    long: dict[str, Any] = {"type": "hangup"}
    for _ in range(20):
        long = {"type": "say", "data": {"text": "x" * 3_900}, "action": long}
    assert (await rest.rejected("POST", CALL, {**BODY, "action": long}))[:2] == (400, "too_large")
    assert (await rest.rejected("POST", CALL, b"x" * 300_000))[:2] == (413, "too_large")


async def test_another_accounts_call_is_not_found(rest: Rest) -> None:
    """It gets 404 for every request, like an unknown call."""
    call = await call_of(rest)
    theirs = await rest.token_of("other", "other")
    for call_id in (call.id, "3-pbx1-00000000", "..", "x/y", "%2e%2e"):
        body = {"callId": call_id, "channelId": f"{call.id}.l0"}
        for method, path in (
            ("POST", "mute"),
            ("POST", "hangup"),
            ("GET", "active-call-details"),
            ("POST", "conference/members"),
        ):
            request_body = body if path == "mute" else {"callId": call_id}
            problem = await rest.rejected(
                method, f"/srmain/voice/{path}", request_body, token=theirs
            )
            assert problem[0] == 404
    problem = await rest.rejected("GET", f"/srmain/voice/call-details/{call.id}", token=theirs)
    assert problem[0] == 404
    assert len((await rest.post("/srmain/voice/active-call-details", callId=call.id))["legs"]) == 1


@pytest.mark.parametrize("length", [257, 9_000, 60_000])
async def test_an_id_that_is_too_long_is_not_found(rest: Rest, length: int) -> None:
    """It gets 404, even if the engine's HTTP server would reject it."""
    call_id = "3-pbx1-" + "0" * length
    base, leg = "/srmain/voice", {"channelId": "3-pbx1-00000000.l0"}
    for method, path, body in (
        ("GET", f"{base}/call-details/{call_id}", None),
        ("POST", f"{base}/call/{call_id}/mute", leg),
        ("POST", f"{base}/call/{call_id}/hangup", None),
    ):
        assert (await rest.rejected(method, path, body))[:2] == (404, "not_found")


async def test_a_call_has_labels_for_its_record(rest: Rest) -> None:
    """The form of the call is a label, unless customData has it."""
    assert (await call_of(rest)).labels == {"obdType": "direct"}
    assert (await call_of(rest, **{"from": "agent:1001"})).labels == {"obdType": "click-to-call"}
    assert not (await call_of(rest, customData={"obdType": "progressive"})).labels
