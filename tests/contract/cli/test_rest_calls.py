"""Commands on calls, over REST with the key of an account."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from api.voice.timeline import call_timeline
from tests.contract.cli.command import switchroom
from tests.contract.cli.fake_engine import FakeEngine
from tests.contract.cli.fake_rest import FakeRest
from tests.harness.cli.controlled_call import (
    ADA,
    BOT,
    CALL,
    CONFERENCE,
    FORK,
    ID,
    MAIN,
    PHONE,
    SECOND,
    STREAMS,
)
from tests.harness.cli.inbound import timeline
from wire.views import CallRecordings


def details(**changes: Any) -> dict[str, Any]:
    """Return the call as customers see it: without where it is."""
    view = msgspec.to_builtins(msgspec.structs.replace(CALL, **changes))
    return {name: value for name, value in view.items() if name not in {"node", "slot"}}


SHOW = ("GET", f"/voice/call-details/{ID}", None)
TRANSFER = msgspec.to_builtins(CALL.transfers[1])
MEMBERS = msgspec.to_builtins(CALL.conferences[0])
CALL_ID = {"callId": ID}


@pytest.mark.parametrize(
    ("words", "sent", "response", "said"),
    [
        (f"call mute {ID} ada --direction both", ("POST", f"/voice/call/{ID}/mute",
         {"channelId": ADA, "direction": "both"}), details(), "muted"),
        (f"call unhold {ID} main", ("POST", f"/voice/call/{ID}/unhold", {"channelId": MAIN}),
         details(), "on hold"),
        (f"call hangup {ID} --agent ada", ("POST", f"/voice/call/{ID}/hangup",
         {"channelId": ADA}), details(), f"hanging up channel {ADA}"),
        (f"transfer complete {ID}", ("POST", "/voice/transfer/complete",
         CALL_ID | {"transferSessionId": SECOND, "completedByAgentId": "operator",
                    "reason": "manual_complete"}), TRANSFER, SECOND),
        (f"transfer start {ID} --from ada --customer main --number +47", ("POST",
         "/voice/transfer/init", CALL_ID | {
             "transferMode": "attended", "sourceChannelId": ADA, "customerChannelId": MAIN,
             "sourceAgentId": "ada", "timeout": 30.0,
             "target": {"kind": "number", "number": "+47"}}),
         TRANSFER, SECOND),
        (f"conference add {ID} --agent 1002", ("POST", "/voice/conference/add-members",
         CALL_ID | {"requestedByAgentId": "operator", "targetAgentIds": ["1002"], "timeout": 30.0,
                    "customerChannelId": MAIN, "sourceChannelId": ADA, "sourceAgentId": "ada"}),
         MEMBERS, CONFERENCE),
        (f"conference coach {ID} {PHONE} ada", ("POST", "/voice/conference/coach",
         CALL_ID | {"conferenceSessionId": CONFERENCE, "channelId": PHONE,
                    "coachedChannelId": ADA}), MEMBERS, CONFERENCE),
        (f"conference kick {ID} {PHONE}", ("POST", "/voice/conference/kick",
         CALL_ID | {"requesterAgentId": "operator", "targetChannelId": PHONE,
                    "conferenceSessionId": CONFERENCE}), MEMBERS, CONFERENCE),
    ],
    ids=lambda each: each if isinstance(each, str) and " " in each else "",
)  # fmt: skip
async def test_a_call_is_controlled(
    tmp_path: Path, words: str, sent: tuple[str, str, Any], response: Any, said: str
) -> None:
    """The command looks at the call, then sends the operation of the REST layer."""
    async with FakeRest() as rest:
        rest.responses = {f"{SHOW[0]} {SHOW[1]}": details(), f"{sent[0]} {sent[1]}": response}
        status, out, err = await rest.run(tmp_path, *words.split())
    assert (status, err) == (0, "")
    assert rest.typed == [SHOW, sent]
    assert said in out


async def test_a_call_of_two_numbers_is_controlled(tmp_path: Path) -> None:
    """The REST layer wants an agent of the source: without one it is the operator."""
    numbers = details(legs=(CALL.legs[0], CALL.legs[2]))
    parties = {"customerChannelId": MAIN, "sourceChannelId": PHONE, "sourceAgentId": "operator"}
    start, add = "/voice/transfer/init", "/voice/conference/add-members"
    async with FakeRest() as rest:
        rest.responses = {f"{SHOW[0]} {SHOW[1]}": numbers, f"POST {start}": TRANSFER,
                          f"POST {add}": MEMBERS}  # fmt: skip
        typed = f"transfer start {ID} --from {PHONE} --customer main --number +47".split()
        started, _, _ = await rest.run(tmp_path, *typed)
        added, _, _ = await rest.run(tmp_path, "conference", "add", ID, "--number", "+47")
    assert (started, added) == (0, 0)
    sent = {path: body for _, path, body in rest.typed if path in {start, add}}
    assert all(body.items() >= parties.items() for body in sent.values())
    assert sent.keys() == {start, add}


async def test_one_party_is_no_conversation(tmp_path: Path) -> None:
    """A member joins two parties."""
    async with FakeRest() as rest:
        rest.responses = {f"{SHOW[0]} {SHOW[1]}": details(legs=(CALL.legs[0],))}
        status, _, err = await rest.run(tmp_path, "conference", "add", ID, "--number", "+47")
    assert (status, "no conversation of two parties" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "path", "body"),
    [
        (f"stream start {ID} wss://ear.example/ --track caller", f"/voice/streams/{ID}/start",
         {"url": "wss://ear.example/", "track": "caller"}),
        (f"stream stop {ID} {FORK}", f"/voice/streams/{ID}/{FORK}/stop", {}),
        (f"stream send {ID} bot.example hello", f"/voice/streams/{ID}/{BOT}/text",
         {"text": "hello"}),
    ],
)  # fmt: skip
async def test_streams_are_controlled(
    tmp_path: Path, words: str, path: str, body: dict[str, Any]
) -> None:
    """A stream is named by its id, the end of that, or its bot's host; the rest is shown."""
    listed, streams = f"/voice/streams/{ID}", msgspec.to_builtins(STREAMS)
    async with FakeRest() as rest:
        rest.responses = {f"GET {listed}": streams, f"POST {path}": streams}
        status, out, err = await rest.run(tmp_path, *words.split())
    looks = [] if " start " in words else [("GET", listed, None)]
    assert (status, err) == (0, "")
    assert rest.typed == [*looks, ("POST", path, body)]
    assert BOT in out


async def test_a_party_is_dialed(tmp_path: Path) -> None:
    """A party is dialled into a call by one request."""
    async with FakeRest() as rest:
        path = "/voice/dial"
        rest.responses = {f"POST {path}": CALL_ID | {"channelId": "c9"}}
        words = ("call", "dial", ID, "+47", "--caller-id", "+48", "--timeout", "5")
        status, out, _ = await rest.run(tmp_path, *words)
    assert (status, out) == (0, "dialing +47: channel c9\n")
    body = CALL_ID | {"target": "+47", "callerId": "+48", "timeout": 5.0}
    assert rest.typed == [("POST", path, body)]


@pytest.mark.parametrize("action", ["start", "pause", "resume", "stop"])
async def test_a_call_is_recorded(tmp_path: Path, action: str) -> None:
    """The response has all recordings of the call."""
    path = f"/voice/call/{ID}/recording/{action}"
    recordings = CallRecordings(ID, CALL.recordings)
    async with FakeRest() as rest:
        rest.responses = {f"POST {path}": msgspec.to_builtins(recordings)}
        status, out, err = await rest.run(tmp_path, "recording", action, ID)
    assert (status, err) == (0, "")
    assert rest.typed == [("POST", path, {})]
    assert CALL.recordings[0].url in out


async def test_a_timeline_is_drawn_as_that_of_an_operator(
    tmp_path: Path, engine: FakeEngine
) -> None:
    """Of what is drawn, a customer misses the name of the node and the lengths of audio."""
    found = msgspec.structs.replace(timeline(), call=CALL)
    engine.timelines = [found]
    _, drawn, _ = await switchroom(tmp_path, engine.url(), "call", "timeline", ID)
    of_customer = call_timeline(msgspec.json.encode(found), with_attempts=True)
    async with FakeRest() as rest:
        rest.responses = {f"GET /voice/call/{ID}/timeline": of_customer}
        status, out, err = await rest.run(tmp_path, "call", "timeline", ID)
        _, text, _ = await rest.run(tmp_path, "call", "timeline", ID, "-o", "json")
    assert (status, err) == (0, "")
    expected = re.sub(r"(plays) [0-9.]+ s", r"\1", drawn.replace(f"engine {CALL.node}   ", ""))
    assert out == expected
    assert json.loads(text) == json.loads(of_customer)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("call list --account acme", "--account: over REST a key shows the calls of its own"),
    ],
)
async def test_what_rest_lacks_is_an_error(tmp_path: Path, words: str, reason: str) -> None:
    """Nothing is changed, and no option is dropped without a word."""
    async with FakeRest() as rest:
        rest.responses = {f"{SHOW[0]} {SHOW[1]}": details()}
        status, _, err = await rest.run(tmp_path, *words.split())
    assert (status, reason in err) == (2, True)
    assert all(each.method == "GET" for each in rest.requests)


async def test_calls_are_listed_and_shown(tmp_path: Path) -> None:
    """Lists and views have what customers see, without node and slot of an operator."""
    async with FakeRest() as rest:
        page = {"data": [details()], "total": 1, "limit": 100, "offset": 0}
        rest.responses = {"GET /voice/calls": page, f"{SHOW[0]} {SHOW[1]}": details()}
        _, table, _ = await rest.run(tmp_path, "call", "list")
        _, text, _ = await rest.run(tmp_path, "call", "show", ID, "-o", "json")
        _, listed, _ = await rest.run(tmp_path, "call", "list", "-o", "yaml")
    assert table.splitlines()[1].startswith(ID)
    assert json.loads(text) == json.loads(msgspec.json.encode(details()))
    assert yaml.safe_load(listed) == [json.loads(text)]


@pytest.mark.parametrize(("ending", "expected"), [("completed", 0), ("busy", 3), ("failed", 1)])
async def test_a_call_is_started_and_watched(tmp_path: Path, ending: str, expected: int) -> None:
    """Its states are printed until it ends; the exit status is that of its result."""
    async with FakeRest() as rest:
        ended = details(status=ending, state="ended", ended_ms=9_000)
        rest.responses = {"POST /voice/call": CALL_ID, f"{SHOW[0]} {SHOW[1]}": ended}
        words = ("call", "create", "--to", "+47", "--from", "+48", "--idempotency-key", "order-17")
        status, out, _ = await rest.run(tmp_path, *words)
        _, as_json, err = await rest.run(tmp_path, *words, "--output", "json")
    assert (status, f"{ending}, ended" in out) == (expected, True)
    assert rest.requests[0].headers["Idempotency-Key"] == "order-17"
    assert rest.requests[0].body == {"to": "+47", "from": "+48"}
    assert (json.loads(as_json)["status"], f"{ending}, ended" in err) == (ending, True)
