"""Commands on calls, over REST with the key of an account."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from api.voice.timeline import call_timeline
from tests.contract.cli.fake_rest import KEY, FakeRest
from tests.harness.cli.controlled_call import (
    CALL,
    ID,
    MAIN,
    PHONE,
)
from tests.harness.cli.forked import run_forked
from tests.harness.cli.inbound import GOLDEN, timeline
from wire.views import CallRecordings


def details(**changes: Any) -> dict[str, Any]:
    """Return the call as customers see it: without where it is."""
    view = msgspec.to_builtins(msgspec.structs.replace(CALL, **changes))
    return {name: value for name, value in view.items() if name not in {"node", "slot"}}


SHOW = ("GET", f"/voice/call-details/{ID}", None)
TRANSFER = msgspec.to_builtins(CALL.transfers[1])
MEMBERS = msgspec.to_builtins(CALL.conferences[0])
CALL_ID = {"callId": ID}


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


async def test_a_timeline_is_drawn(tmp_path: Path) -> None:
    """A ladder after two lines of title, or the JSON of the REST layer.

    Of what is drawn, a customer misses the name of the node.
    """
    found = call_timeline(msgspec.json.encode(timeline()))
    call = timeline().call
    async with FakeRest() as rest:
        rest.responses = {f"GET /voice/call/{call.call_id}/timeline": found}
        words = ("call", "timeline", call.call_id)
        status, out, err = await rest.run(tmp_path, *words)
        _, text, _ = await rest.run(tmp_path, *words, "-o", "json")
    expected = GOLDEN.read_text().replace(f"engine {call.node}   ", "")
    assert (status, err) == (0, "")
    assert [line.rstrip() for line in out.splitlines()[2:]] == expected.splitlines()
    assert json.loads(text) == json.loads(found)


async def test_calls_are_listed_and_shown(tmp_path: Path) -> None:
    """Lists and views have what customers see, without node and slot of an operator."""
    async with FakeRest() as rest:
        page = {"data": [details()], "total": 1, "limit": 100, "offset": 0}
        rest.responses = {"GET /voice/calls?limit=1000": page, f"{SHOW[0]} {SHOW[1]}": details()}
        _, table, _ = await rest.run(tmp_path, "call", "list")
        _, text, _ = await rest.run(tmp_path, "call", "show", ID, "-o", "json")
        _, listed, _ = await rest.run(tmp_path, "call", "list", "-o", "yaml")
    assert table.splitlines()[1].startswith(ID)
    assert json.loads(text) == json.loads(msgspec.json.encode(details()))
    assert yaml.safe_load(listed) == [json.loads(text)]


async def test_ended_calls_are_listed(tmp_path: Path) -> None:
    """`--ended` prints ids of the account, or of all, one in each line, for other commands."""
    async with FakeRest() as rest:
        rest.responses = {
            "GET /voice/calls/ended?limit=2": {"callIds": ["a", "b"]},
            "GET /operations/calls/ended?limit=1": {"callIds": ["c"]},
        }
        own = await rest.run(tmp_path, "call", "list", "--ended", "2")
        all_ = await rest.run(tmp_path, "call", "list", "--ended", "1", "--all-accounts")
        with_watch = await rest.run(tmp_path, "call", "list", "--ended", "2", "--watch")
        filtered = await rest.run(tmp_path, "call", "list", "--ended", "2", "--state", "x")
    assert (own, all_) == ((0, "a\nb\n", ""), (0, "c\n", ""))
    assert (with_watch.status, "--watch draws a table" in with_watch.err) == (2, True)
    assert (filtered.status, "no filter but" in filtered.err) == (2, True)


async def test_an_operator_acts_for_an_account(tmp_path: Path) -> None:
    """`--account` is sent with each request; the account of the settings is not."""
    async with FakeRest() as rest:
        rest.responses = {f"{SHOW[0]} {SHOW[1]}": details()}
        await rest.run(tmp_path, "call", "hangup", ID, "--channel", "main", "--account", "acme")
        settings = {"SWITCHROOM_API_URL": rest.url(), "SWITCHROOM_API_KEY": KEY}
        await run_forked(("call", "show", ID), tmp_path, settings | {"SWITCHROOM_ACCOUNT": "acme"})
    named = [each.headers.get("Switchroom-Account") for each in rest.requests]
    assert named == ["acme", "acme", None]
