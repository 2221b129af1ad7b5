"""Call control from the shell: the request of each command."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.contract.cli.command import switchroom, typed
from tests.contract.cli.fake_engine import FakeEngine
from tests.harness.cli.controlled_call import (
    ADA,
    BOT,
    CONFERENCE,
    FIRST,
    FORK,
    ID,
    MAIN,
    PHONE,
    SECOND,
)
from wire import control
from wire.rpc import Problem

EAR = "wss://ear.example/"
SESSION = {"conferenceSessionId": CONFERENCE}
HANDED = {"transferMode": "attended", "sourceChannelId": ADA, "customerChannelId": MAIN}
CASES: list[tuple[str, str, type, dict[str, Any]]] = [
    ("call mute {} main", "mute", control.MuteLeg, {"channelId": MAIN, "direction": "in"}),
    (
        "call mute {} ada --direction both",
        "mute",
        control.MuteLeg,
        {"channelId": ADA, "direction": "both"},
    ),
    ("call unmute {} l0", "unmute", control.LegControl, {"channelId": ADA}),
    ("call hold {} desk", "hold", control.LegControl, {"channelId": PHONE}),
    ("call unhold {} 15550077", "unhold", control.LegControl, {"channelId": MAIN}),
    (
        "call dial {} +1555 --timeout 9 --caller-id +1556",
        "dial",
        control.DialInto,
        {"target": "+1555", "timeout": 9.0, "callerId": "+1556"},
    ),
    ("call hangup {}", "hangup", control.HangupCall, {}),
    ("call hangup {} --channel main", "hangup", control.HangupCall, {"channelId": MAIN}),
    ("call hangup {} --agent 1001", "hangup", control.HangupCall, {"channelId": ADA}),
    ("recording pause {}", "recording/pause", control.CallControl, {}),
    (
        "transfer {} --from ada --customer main --agent 1002 --name Bo --moh https://x.example/m",
        "transfers",
        control.InitTransfer,
        {
            **HANDED,
            "sourceAgentId": "ada",
            "target": {"kind": "agent", "agentId": "1002", "agentName": "Bo"},
            "timeout": 30.0,
            "mohAudioUrl": "https://x.example/m",
        },
    ),
    (
        "transfer {} --from main --customer ada --number +1555 --blind --timeout 5",
        "transfers",
        control.InitTransfer,
        {
            "transferMode": "blind",
            "sourceChannelId": MAIN,
            "customerChannelId": ADA,
            "target": {"kind": "number", "number": "+1555"},
            "timeout": 5.0,
        },
    ),
    (
        "transfer complete {}",
        f"transfers/{SECOND}/complete",
        control.CompleteTransfer,
        {"completedByAgentId": "operator", "reason": "manual_complete"},
    ),
    (
        "transfer cancel {} t1 --by ada",
        f"transfers/{FIRST}/cancel",
        control.CancelTransfer,
        {"cancelledByAgentId": "ada", "reason": "source_cancel"},
    ),
    (
        "conference add {} --agent 1003 --name Cy --by ada",
        "conference/members",
        control.AddMember,
        {
            "requestedByAgentId": "ada",
            "targetAgentIds": ["1003"],
            "targetAgentNames": {"1003": "Cy"},
            "timeout": 30.0,
        },
    ),
    (
        "conference add {} --number +1555",
        "conference/members",
        control.AddMember,
        {"requestedByAgentId": "operator", "targetExternalNumber": "+1555", "timeout": 30.0},
    ),
    (
        "conference kick {} desk",
        "conference/kick",
        control.KickMember,
        {**SESSION, "requesterAgentId": "operator", "targetChannelId": PHONE},
    ),
    (
        "conference leave {} ada",
        "conference/leave",
        control.LeaveConference,
        {**SESSION, "agentId": "ada", "channelId": ADA},
    ),
    (
        "conference coach {} ada main",
        "conference/coach",
        control.Coach,
        {**SESSION, "channelId": ADA, "coachedChannelId": MAIN},
    ),
    (
        "conference coach {} ada",
        "conference/coach",
        control.Coach,
        {**SESSION, "channelId": ADA},
    ),
    ("stream start {} wss://ear.example/", "streams", control.StartStream, {"url": EAR}),
    (
        (
            "stream start {} wss://ear.example/ --protocol native --rate 16000 --track caller"
            ' --parameters {{"for":"notes"}} --max-duration 60 --on-lost continue'
        ),
        "streams",
        control.StartStream,
        {
            "url": EAR,
            "protocol": "native",
            "rate": 16000,
            "track": "caller",
            "parameters": {"for": "notes"},
            "maxDuration": 60.0,
            "onLost": "continue",
        },
    ),
    ("stream stop {} w7", f"streams/{FORK}/stop", control.CallControl, {}),
    (
        "stream send {} bot.example hello",
        f"streams/{BOT}/text",
        control.SendStreamText,
        {"text": "hello"},
    ),
]


@pytest.mark.parametrize(("line", "path", "shape", "body"), CASES, ids=[e[0] for e in CASES])
async def test_each_command_requests_what_it_says(
    engine: FakeEngine, line: str, path: str, shape: type, body: dict[str, Any]
) -> None:
    """Short names become ids, and options become fields that the RPC knows."""
    assert await typed(engine.url(), *line.format(ID).split()) == 0
    assert engine.requests[-1] == ("POST", f"calls/{ID}/{path}", body)
    msgspec.convert(body, shape)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("call mute {} bob", "matches “bob”; choices:"),
        ("call hangup {} --channel main --agent ada", "--channel and --agent exclude each other"),
        ("call hangup {} --agent=", "no channel"),
        ("call hangup {} --channel=", "no channel"),
        ("transfer {} --from ada --customer main", "exactly one of --agent and --number"),
        (
            "transfer {} --from ada --customer main --agent 1 --number 2",
            "exactly one of --agent and --number",
        ),
        ("conference add {} --number 15 --name Ada", "--name requires --agent"),
        ("conference kick {} bob", "no member of the conference matches “bob”"),
        ("stream stop {} w9", f"no stream of call {ID} matches “w9”; choices: {BOT}, bot.example"),
        ("stream start {} wss://ear.example/ --parameters x", "--parameters: not JSON"),
    ],
)
async def test_what_can_not_be_requested_is_not_requested(
    engine: FakeEngine, capsys: pytest.CaptureFixture[str], line: str, expected: str
) -> None:
    """The error says what is missing, and no control request is sent."""
    assert await typed(engine.url(), *line.format(ID).split()) == 2
    out, err = capsys.readouterr()
    assert (out, expected in " ".join(err.split())) == ("", True)
    assert all(method == "GET" for method, _path, _body in engine.requests)


async def test_what_the_engine_refuses_is_shown(tmp_path: Path, engine: FakeEngine) -> None:
    """The engine's message is printed, without a traceback."""
    engine.problem = Problem("Wrong state", 409, "call_ended", f"call {ID} has ended")
    result = await switchroom(tmp_path, engine.url(), "call", "hangup", ID)
    more = "call_ended: `switchroom error show call_ended` explains it"
    assert result == (2, "", f"switchroom: call {ID} has ended\n  {more}\n")
