"""Call control from the shell: the request of each command."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.voice import schemas
from api.voice.sessions import schemas as sessions
from api.voice.streams import schemas as streams
from tests.contract.cli.fake_rest import FakeRest, problem
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
from wire.views import CallRecordings

EAR = "wss://ear.example/"
CALL_ID = {"callId": ID}
SESSION = {"conferenceSessionId": CONFERENCE}
HANDED = {"transferMode": "attended", "sourceChannelId": ADA, "customerChannelId": MAIN}
PARTIES = {"customerChannelId": MAIN, "sourceChannelId": ADA, "sourceAgentId": "ada"}
# What is typed, the path below /voice that is requested, the shape of the body, and the body.
CASES: list[tuple[str, str, type, dict[str, Any]]] = [
    (
        "call mute {} main",
        f"call/{ID}/mute",
        schemas.MuteByPathRequest,
        {"channelId": MAIN, "direction": "in"},
    ),
    (
        "call mute {} ada --direction both",
        f"call/{ID}/mute",
        schemas.MuteByPathRequest,
        {"channelId": ADA, "direction": "both"},
    ),
    ("call unmute {} l0", f"call/{ID}/unmute", schemas.LegByPathRequest, {"channelId": ADA}),
    ("call hold {} desk", f"call/{ID}/hold", schemas.LegByPathRequest, {"channelId": PHONE}),
    (
        "call unhold {} 15550077",
        f"call/{ID}/unhold",
        schemas.LegByPathRequest,
        {"channelId": MAIN},
    ),
    (
        "call dial {} +1555 --timeout 9 --caller-id +1556",
        "dial",
        schemas.DialRequest,
        CALL_ID | {"target": "+1555", "timeout": 9.0, "callerId": "+1556"},
    ),
    ("call hangup {}", f"call/{ID}/hangup", schemas.HangupByPathRequest, {}),
    (
        "call hangup {} --channel main",
        f"call/{ID}/hangup",
        schemas.HangupByPathRequest,
        {"channelId": MAIN},
    ),
    (
        "call hangup {} --agent 1001",
        f"call/{ID}/hangup",
        schemas.HangupByPathRequest,
        {"channelId": ADA},
    ),
    ("recording pause {}", f"call/{ID}/recording/pause", schemas.CallByPathRequest, {}),
    (
        "transfer {} --from ada --customer main --agent 1002 --name Bo --moh https://x.example/m",
        "transfer/init",
        sessions.TransferRequest,
        {
            **CALL_ID,
            **HANDED,
            "sourceAgentId": "ada",
            "target": {"kind": "agent", "agentId": "1002", "agentName": "Bo"},
            "timeout": 30.0,
            "mohAudioUrl": "https://x.example/m",
        },
    ),
    (
        "transfer {} --from main --customer ada --number +1555 --blind --timeout 5",
        "transfer/init",
        sessions.TransferRequest,
        {
            **CALL_ID,
            "transferMode": "blind",
            "sourceAgentId": "operator",
            "sourceChannelId": MAIN,
            "customerChannelId": ADA,
            "target": {"kind": "number", "number": "+1555"},
            "timeout": 5.0,
        },
    ),
    (
        "transfer complete {}",
        "transfer/complete",
        sessions.CompleteTransferRequest,
        {
            **CALL_ID,
            "transferSessionId": SECOND,
            "completedByAgentId": "operator",
            "reason": "manual_complete",
        },
    ),
    (
        "transfer cancel {} t1 --by ada",
        "transfer/cancel",
        sessions.CancelTransferRequest,
        {
            **CALL_ID,
            "transferSessionId": FIRST,
            "cancelledByAgentId": "ada",
            "reason": "source_cancel",
        },
    ),
    (
        "conference add {} --agent 1003 --name Cy --by ada",
        "conference/add-members",
        sessions.AddMembersRequest,
        {
            **CALL_ID,
            **PARTIES,
            "requestedByAgentId": "ada",
            "targetAgentIds": ["1003"],
            "targetAgentNames": {"1003": "Cy"},
            "timeout": 30.0,
        },
    ),
    (
        "conference add {} --number +1555",
        "conference/add-members",
        sessions.AddMembersRequest,
        {
            **CALL_ID,
            **PARTIES,
            "requestedByAgentId": "operator",
            "targetExternalNumber": "+1555",
            "timeout": 30.0,
        },
    ),
    (
        "conference kick {} desk",
        "conference/kick",
        sessions.KickMemberRequest,
        {**CALL_ID, **SESSION, "requesterAgentId": "operator", "targetChannelId": PHONE},
    ),
    (
        "conference leave {} ada",
        "conference/leave",
        sessions.LeaveConferenceRequest,
        {**CALL_ID, **SESSION, "agentId": "ada", "channelId": ADA},
    ),
    (
        "conference coach {} ada main",
        "conference/coach",
        sessions.CoachRequest,
        {**CALL_ID, **SESSION, "channelId": ADA, "coachedChannelId": MAIN},
    ),
    (
        "conference coach {} ada",
        "conference/coach",
        sessions.CoachRequest,
        {**CALL_ID, **SESSION, "channelId": ADA},
    ),
    (
        "stream start {} wss://ear.example/",
        f"streams/{ID}/start",
        streams.StreamRequest,
        {"url": EAR},
    ),
    (
        (
            "stream start {} wss://ear.example/ --protocol native --rate 16000 --track caller"
            ' --parameters {{"for":"notes"}} --max-duration 60 --on-lost continue'
        ),
        f"streams/{ID}/start",
        streams.StreamRequest,
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
    ("stream stop {} w7", f"streams/{ID}/{FORK}/stop", streams.StreamStopRequest, {}),
    (
        "stream send {} bot.example hello",
        f"streams/{ID}/{BOT}/text",
        streams.StreamTextRequest,
        {"text": "hello"},
    ),
]


@pytest.mark.parametrize(("line", "path", "shape", "body"), CASES, ids=[e[0] for e in CASES])
async def test_each_command_requests_what_it_says(
    tmp_path: Path, line: str, path: str, shape: type, body: dict[str, Any]
) -> None:
    """Short names become ids, and options become fields that the REST layer knows."""
    async with FakeRest() as rest:
        rest.responses = Responses()
        status, _, err = await rest.run(tmp_path, *line.format(ID).split())
    assert (status, err) == (0, "")
    assert rest.typed[-1] == ("POST", f"/voice/{path}", body)
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
    tmp_path: Path, line: str, expected: str
) -> None:
    """The error says what is missing, and no control request is sent."""
    async with FakeRest() as rest:
        rest.responses = Responses()
        status, out, err = await rest.run(tmp_path, *line.format(ID).split())
    assert (status, out, expected in " ".join(err.split())) == (2, "", True)
    assert all(each.method == "GET" for each in rest.requests)


async def test_what_the_server_refuses_is_shown(tmp_path: Path) -> None:
    """Its message is printed, without a traceback."""
    async with FakeRest() as rest:
        rest.default = problem(409, "call_ended", f"call {ID} has ended")
        result = await rest.run(tmp_path, "call", "hangup", ID)
    more = "call_ended: `switchroom error show call_ended` explains it"
    assert result == (2, "", f"switchroom: call {ID} has ended\n  {more}\n")


class Responses(dict[str, Any]):
    """Responses about the call; a change has the response of its kind."""

    def get(self, key: str, _default: Any = None) -> Any:
        """Return the response to a method and path."""
        match key.removeprefix("POST ").split("/"):
            case [_, _, "dial"]:
                found: Any = {"callId": ID, "channelId": "c9"}
            case [_, _, "transfer", _]:
                found = CALL.transfers[1]
            case [_, _, "conference", _]:
                found = CALL.conferences[0]
            case [_, _, "streams", *_]:
                found = STREAMS
            case [*_, "recording", _]:
                found = CallRecordings(ID, CALL.recordings)
            case _:
                found = CALL
        return msgspec.to_builtins(found)
