"""What commands show of a call: its legs, sessions and recordings."""

import json
from pathlib import Path

import msgspec

from tests.contract.cli.fake_rest import FakeRest
from tests.harness.cli.controlled_call import (
    ADA,
    BOT,
    CALL,
    CONFERENCE,
    FIRST,
    FORK,
    ID,
    MAIN,
    PHONE,
    SECOND,
    STREAMS,
)


async def test_a_call_is_shown(tmp_path: Path) -> None:
    """Legs have whole ids, mutes and holds; transfers, members and recordings follow."""
    async with FakeRest() as rest:
        rest.responses = {
            f"GET /voice/call-details/{ID}": msgspec.to_builtins(CALL),
            "POST /voice/conference/members": msgspec.to_builtins(CALL.conferences[0]),
        }
        _, out, _ = await rest.run(tmp_path, "call", "show", ID)
        _, members, _ = await rest.run(tmp_path, "conference", "members", ID)
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines == [
        f"call {ID}",
        "inbound, from +15550077 to +15550100, account acme, in-progress, bridged (dial)",
        "channel party agent state",
        f"{MAIN} +15550077 up main, on hold",
        f"{ADA} agent:1001 ada up muted: inbound, answered by: human",
        f"{PHONE} sip:desk@10.0.0.1:5062 ringing",
        f"transfer {FIRST}: attended, canceled: {MAIN} from {ADA} to agent:1002",
        f"transfer {SECOND}: attended, ringback: {MAIN} from {ADA} to agent:1002",
        f"conference {CONFERENCE}: in-progress",
        "member party agent state",
        f"{MAIN} +15550077 connected on hold",
        f"{ADA} agent:1001 ada connected [Ada], coaches {MAIN}",
        f"{PHONE} sip:desk@10.0.0.1:5062 complete kicked",
        "recording (call): archived, 6.3 s, https://archive.example/x.wav",
    ]
    assert members.splitlines() == out.splitlines()[8:13]


async def test_streams_are_shown(tmp_path: Path) -> None:
    """With whole ids: which bot talks, which only listens, and how much was heard."""
    async with FakeRest() as rest:
        rest.responses = {f"GET /voice/streams/{ID}": msgspec.to_builtins(STREAMS)}
        _, out, _ = await rest.run(tmp_path, "stream", "list", ID)
        _, text, _ = await rest.run(tmp_path, "stream", "list", ID, "-o", "json")
    assert [" ".join(line.split()) for line in out.splitlines()] == [
        "stream bot protocol state",
        f"{BOT} wss://bot.example/talk twilio connected 6.3 s heard, mark m1",
        f"{FORK} wss://ear.example:8443/ native starting fork, track caller",
    ]
    assert [each["streamId"] for each in json.loads(text)["streams"]] == [BOT, FORK]


async def test_a_recording_to_come_is_shown(tmp_path: Path) -> None:
    """Before the answer there is no recording to show."""
    async with FakeRest() as rest:
        rest.default = {"callId": ID, "recordings": []}
        status, out, _ = await rest.run(tmp_path, "recording", "start", ID)
    assert (status, out.startswith("no recording yet")) == (0, True)
