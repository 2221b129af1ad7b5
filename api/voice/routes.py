"""Calls over REST: started, shown, controlled leg by leg (docs/rest.md)."""

from typing import Annotated, TypedDict

from fastapi import Query
from msgspec import Struct

from api.auth.dependencies import AuthenticatedUser
from api.http.paging import MAX_LIMIT
from api.http.routes import Body, RequestId, Routes
from api.voice import examples
from api.voice.dependencies import CONTROL_ERRORS, READ_ERRORS, After, CallId, Voice
from api.voice.live_list import LiveCallPage, LiveCallQuery
from api.voice.replay import CallReplay
from api.voice.schemas import (
    CallByPathRequest,
    CallLegRequest,
    CallReference,
    DialRequest,
    HangupByPathRequest,
    HangupRequest,
    LegByPathRequest,
    MuteByPathRequest,
    MuteRequest,
    OriginateRequest,
    OriginateResult,
    RecordingAction,
    check_call_id,
)
from api.voice.timeline import CallTimeline
from api.voice.views import CallDetails
from wire.control import DialedLeg
from wire.views import CallRecordings, EndedCalls

routes = Routes("Calls")
BASE = "/srmain/voice"
Latest = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Number of the latest calls.")]
BASES = (BASE, "/voice")  # of paths with a call's id: the second one is without /srmain


class Naming(TypedDict, total=False):
    """The id of an operation, and the operation that it is another path of."""

    id: str
    alias_of: str


def naming_by_path(base: str, operation: str) -> Naming:
    """Return the naming of an operation that has a path below each base."""
    if base == BASE:
        return Naming(id=operation)
    return Naming(id=f"{operation}ByShortPath", alias_of=operation)


class _CallControl(TypedDict):
    returns: type[Struct]
    errors: tuple[int, ...]


CALL_CONTROL = _CallControl(returns=CallDetails, errors=CONTROL_ERRORS)


@routes.post(
    f"{BASE}/call",
    id="calls.create",
    scope="calls:own",
    returns=OriginateResult,
    status=201,
    errors=(409, 429, 503),
    example=examples.ORIGINATE,
    idempotent=True,
)
async def originate(
    user: AuthenticatedUser, voice: Voice, body: Body[OriginateRequest], request_id: RequestId
) -> bytes:
    """Start a call."""
    return await voice.originate(user, body, request_id)


@routes.get(
    f"{BASE}/calls", id="calls.list", scope="calls:own", returns=LiveCallPage, errors=(503,)
)
async def list_live_calls(
    user: AuthenticatedUser, query: Annotated[LiveCallQuery, Query()], voice: Voice
) -> bytes:
    """List the live calls, newest first.

    An agent's token lists the calls in which that agent takes or took part.
    """
    return await voice.list_live(user, query)


@routes.get(f"{BASE}/calls/ended", id="calls.ended", scope="calls", errors=(503,))
async def list_ended_calls(
    user: AuthenticatedUser, voice: Voice, limit: Latest = 100
) -> EndedCalls:
    """List the ids of the latest ended calls, latest first.

    They are there at once; call records follow a moment later.
    """
    return await voice.ended(user, limit)


@routes.get(
    f"{BASE}/call-details/{{callId}}",
    id="calls.get",
    scope="calls:own",
    returns=CallDetails,
    errors=READ_ERRORS,
)
async def call_details(call_id: CallId, user: AuthenticatedUser, voice: Voice) -> bytes:
    """Show a call, live or ended within the last day."""
    return await voice.show(user, call_id)


@routes.get(
    f"{BASE}/call/{{callId}}/timeline",
    id="calls.timeline",
    scope="calls:own",
    returns=CallTimeline,
    errors=READ_ERRORS,
)
async def call_timeline(
    call_id: CallId, user: AuthenticatedUser, voice: Voice, after: After = None
) -> bytes:
    """Show what happened in a call, live or ended; sealed digits are dots.

    After a day it is made of the call's record, for those who may read that. Attempts to reach
    servers need the scope `webhooks`, too. An agent's token shows the agent's own calls, without
    rows of what servers, flows and bots exchange.
    """
    return await voice.timeline(user, call_id, after)


@routes.get(
    f"{BASE}/call/{{callId}}/replay", id="calls.replay", scope="calls", errors=(404, 409, 503)
)
async def replay_call(call_id: CallId, user: AuthenticatedUser, voice: Voice) -> CallReplay:
    """Compare a call, live or ended within the last day, with what the engine would do now.

    The engine repeats the call's decisions from its log. A difference shows that another version
    decided otherwise, and names the moment of the timeline.
    """
    return await voice.replay(user, call_id)


@routes.get(
    f"{BASE}/active-call-details",
    id="calls.getActive",
    scope="calls:own",
    query=("callId",),
    returns=CallDetails,
    errors=READ_ERRORS,
    example={"callId": examples.CALL},
)
@routes.post(
    f"{BASE}/active-call-details",
    id="calls.getActiveByBody",
    alias_of="calls.getActive",
    scope="calls:own",
    returns=CallDetails,
    errors=READ_ERRORS,
    example={"callId": examples.CALL},
)
async def active_call_details(
    user: AuthenticatedUser, voice: Voice, body: Body[CallReference]
) -> bytes:
    """Show a live call."""
    return await voice.show_active(user, body.call_id)


@routes.post(
    f"{BASE}/dial",
    id="calls.dial",
    scope="calls:own",
    returns=DialedLeg,
    errors=CONTROL_ERRORS,
    example={"callId": examples.CALL, "target": "+4733333333"},
    idempotent=True,
)
async def dial(user: AuthenticatedUser, voice: Voice, body: Body[DialRequest]) -> bytes:
    """Call a party into a live call."""
    return await voice.dial(user, body)


@routes.post(
    f"{BASE}/hangup",
    id="calls.hangupByBody",
    alias_of="calls.hangup",
    scope="calls:own",
    **CALL_CONTROL,
    example={"callId": examples.CALL, "agentId": "1001"},
)
async def hangup(user: AuthenticatedUser, voice: Voice, body: Body[HangupRequest]) -> bytes:
    """Hang up a call, or a leg of it.

    Without a leg, the leg of the token's agent is hung up; of another token, the whole call.
    """
    return await voice.hangup(user, body.call_id, body)


async def hangup_by_path(
    call_id: CallId, user: AuthenticatedUser, voice: Voice, body: Body[HangupByPathRequest]
) -> bytes:
    """Hang up this call, or a leg of it.

    Without a leg, the leg of the token's agent is hung up; of another token, the whole call.
    """
    check_call_id(call_id, body.call_id)
    return await voice.hangup(user, call_id, body)


def _add_leg_route(action: str, summary: str) -> None:
    @routes.post(
        f"{BASE}/{action}",
        id=f"calls.{action}ByBody",
        alias_of=f"calls.{action}",
        scope="calls:own",
        **CALL_CONTROL,
        summary=summary,
        example=examples.ON_LEG,
    )
    async def control_leg(
        user: AuthenticatedUser, voice: Voice, body: Body[CallLegRequest]
    ) -> bytes:
        return await voice.control_leg(user, body.call_id, action, body)


def _add_leg_route_by_path(base: str, action: str, summary: str) -> None:
    @routes.post(
        f"{base}/call/{{callId}}/{action}",
        **naming_by_path(base, f"calls.{action}"),
        scope="calls:own",
        **CALL_CONTROL,
        summary=summary,
        example=examples.LEG,
    )
    async def control_leg_by_path(
        call_id: CallId, user: AuthenticatedUser, voice: Voice, body: Body[LegByPathRequest]
    ) -> bytes:
        check_call_id(call_id, body.call_id)
        return await voice.control_leg(user, call_id, action, body)


@routes.post(
    f"{BASE}/mute",
    id="calls.muteByBody",
    alias_of="calls.mute",
    scope="calls:own",
    **CALL_CONTROL,
    example=examples.ON_LEG,
    summary="Mute a leg",
)
async def mute(user: AuthenticatedUser, voice: Voice, body: Body[MuteRequest]) -> bytes:
    """Mute a leg: the others do not hear it."""
    return await voice.mute(user, body.call_id, body)


async def mute_by_path(
    call_id: CallId, user: AuthenticatedUser, voice: Voice, body: Body[MuteByPathRequest]
) -> bytes:
    """Mute a leg of this call: the others do not hear it."""
    check_call_id(call_id, body.call_id)
    return await voice.mute(user, call_id, body)


def _add_recording_route(action: RecordingAction, scope: str, summary: str) -> None:
    @routes.post(
        f"{BASE}/call/{{callId}}/recording/{action}",
        id=f"calls.{action}Recording",
        scope=scope,
        returns=CallRecordings,
        errors=CONTROL_ERRORS,
        summary=summary,
        example={},
        idempotent=True,
    )
    async def control_recording(
        call_id: CallId, user: AuthenticatedUser, voice: Voice, body: Body[CallByPathRequest]
    ) -> bytes:
        check_call_id(call_id, body.call_id)
        return await voice.record(user, call_id, action)


# An agent pauses while a customer says a card's number; whether a call is recorded at all is for
# those who see all calls.
_add_recording_route("start", "calls", "Start recording a call")
_add_recording_route("pause", "calls:own", "Pause a recording; it continues with silence")
_add_recording_route("resume", "calls:own", "Resume a recording")
_add_recording_route("stop", "calls", "Stop recording a call")
for _action, _summary in (
    ("unmute", "Unmute a leg"),
    ("hold", "Put a leg on hold"),
    ("unhold", "Take a leg off hold"),
):
    _add_leg_route(_action, _summary)
    for _base in BASES:
        _add_leg_route_by_path(_base, _action, _summary)
for _base in BASES:
    routes.post(
        f"{_base}/call/{{callId}}/mute",
        **naming_by_path(_base, "calls.mute"),
        scope="calls:own",
        **CALL_CONTROL,
        summary="Mute a leg",
        example=examples.LEG,
    )(mute_by_path)
    routes.post(
        f"{_base}/call/{{callId}}/hangup",
        **naming_by_path(_base, "calls.hangup"),
        scope="calls:own",
        **CALL_CONTROL,
        example={"agentId": "1001"},
    )(hangup_by_path)
