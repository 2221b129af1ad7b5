"""What commands show of a call: its legs, sessions and recordings."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.contract.cli.command import switchroom, typed
from tests.contract.cli.fake_engine import FakeEngine
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
)


async def test_a_call_is_shown(tmp_path: Path, engine: FakeEngine) -> None:
    """Legs have whole ids, mutes and holds; transfers, members and recordings follow."""
    _, out, _ = await switchroom(tmp_path, engine.url(), "call", "show", ID)
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
    _, members, _ = await switchroom(tmp_path, engine.url(), "conference", "members", ID)
    assert members.splitlines() == out.splitlines()[8:13]


async def test_streams_are_shown(tmp_path: Path, engine: FakeEngine) -> None:
    """With whole ids: which bot talks, which only listens, and how much was heard."""
    _, out, _ = await switchroom(tmp_path, engine.url(), "stream", "list", ID)
    assert [" ".join(line.split()) for line in out.splitlines()] == [
        "stream bot protocol state",
        f"{BOT} wss://bot.example/talk twilio connected 6.3 s heard, mark m1",
        f"{FORK} wss://ear.example:8443/ native starting fork, track caller",
    ]
    _, out, _ = await switchroom(tmp_path, engine.url(), "stream", "list", ID, "-o", "json")
    assert [each["streamId"] for each in json.loads(out)["streams"]] == [BOT, FORK]


async def test_a_recording_to_come_is_shown(
    engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the answer there is no recording to show."""
    engine.call = replace(CALL, recordings=())
    assert await typed(engine.url(), "recording", "start", ID) == 0
    assert capsys.readouterr().out.startswith("no recording yet")
