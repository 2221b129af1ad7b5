"""Calls over REST: made, shown, steered leg by leg (spec, "Voice")."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from api.auth.dependencies import AuthenticatedUser
from api.http.idempotency import IdempotencyKey
from api.http.msgspec_adapter import described, reading
from api.http.responses import once, told
from api.voice import examples
from api.voice.dependencies import CONTROL_ERRORS, READ_ERRORS, CallId, Voice
from api.voice.schemas import (
    CallBody,
    CallHangupBody,
    CallLegBody,
    DialBody,
    LegBody,
    LegHangupBody,
    OriginateBody,
    Originated,
)
from wire.control import DialedLeg
from wire.views import CallView

router = APIRouter(tags=["Voice"])
BASE = "/srmain/voice"
ACTIVE: dict[str, Any] = {
    "asked": CallBody,
    "answered": CallView,
    "statuses": READ_ERRORS,
    "example": {"callId": examples.CALL},
}


@router.post(
    f"{BASE}/call",
    **described(
        "Make a call",
        asked=OriginateBody,
        answered=Originated,
        status=201,
        statuses=(401, 409, 429, 503),
        example=examples.ORIGINATE,
    ),
)
async def originate(
    request: Request,
    who: AuthenticatedUser,
    voice: Voice,
    asked: Annotated[OriginateBody, Depends(reading(OriginateBody))],
    key: IdempotencyKey = None,
) -> Response:
    """Make a call."""

    async def deed(request_id: str) -> bytes:
        return await voice.originate(who, asked, request_id or None)

    return told(await once(request, who, key, deed), 201)


@router.get(
    f"{BASE}/call-details/{{callId}}",
    **described("Show a call, live or ended", answered=CallView, statuses=READ_ERRORS),
)
async def call_details(call_id: CallId, who: AuthenticatedUser, voice: Voice) -> Response:
    """Show a call, live or ended within the last day."""
    return told(await voice.show(who, call_id))


@router.get(
    f"{BASE}/active-call-details",
    **described("Show a live call", by_query=("callId",), **ACTIVE),
)
@router.post(f"{BASE}/active-call-details", **described("Show a live call", **ACTIVE))
async def active_call_details(
    who: AuthenticatedUser, voice: Voice, asked: Annotated[CallBody, Depends(reading(CallBody))]
) -> Response:
    """Show a live call."""
    return told(await voice.active(who, asked.call_id))


@router.post(
    f"{BASE}/dial",
    **described(
        "Call a party into a live call",
        asked=DialBody,
        answered=DialedLeg,
        statuses=CONTROL_ERRORS,
        example={"callId": examples.CALL, "target": "+4733333333"},
    ),
)
async def dial(
    request: Request,
    who: AuthenticatedUser,
    voice: Voice,
    asked: Annotated[DialBody, Depends(reading(DialBody))],
    key: IdempotencyKey = None,
) -> Response:
    """Call a party into a live call."""

    async def deed(_request_id: str) -> bytes:
        return await voice.dial(who, asked)

    return told(await once(request, who, key, deed))


@router.post(
    f"{BASE}/hangup",
    **described(
        "End a call, or a leg of it",
        asked=CallHangupBody,
        answered=CallView,
        statuses=CONTROL_ERRORS,
        example={"callId": examples.CALL, "agentId": "1001"},
    ),
)
async def hangup(
    who: AuthenticatedUser,
    voice: Voice,
    asked: Annotated[CallHangupBody, Depends(reading(CallHangupBody))],
) -> Response:
    """End a leg that is named, or that of the token's agent, or else the call."""
    return told(await voice.hangup(who, asked.call_id, asked))


def _hangup_of(base: str) -> None:
    @router.post(
        f"{base}/call/{{callId}}/hangup",
        **described(
            "End this call, or a leg of it",
            asked=LegHangupBody,
            answered=CallView,
            statuses=CONTROL_ERRORS,
            example={"agentId": "1001"},
        ),
    )
    async def hangup_of(
        call_id: CallId,
        who: AuthenticatedUser,
        voice: Voice,
        asked: Annotated[LegHangupBody, Depends(reading(LegHangupBody))],
    ) -> Response:
        """End a leg that is named, or that of the token's agent, or else the call."""
        return told(await voice.hangup(who, call_id, asked))


def _on_leg(deed: str, summary: str) -> None:
    @router.post(
        f"{BASE}/{deed}",
        **described(
            summary,
            asked=CallLegBody,
            answered=CallView,
            statuses=CONTROL_ERRORS,
            example=examples.ON_LEG,
        ),
    )
    async def on_leg(
        who: AuthenticatedUser,
        voice: Voice,
        asked: Annotated[CallLegBody, Depends(reading(CallLegBody))],
    ) -> Response:
        return told(await voice.on_leg(who, asked.call_id, deed, asked))


def _on_leg_of(base: str, deed: str, summary: str) -> None:
    @router.post(
        f"{base}/call/{{callId}}/{deed}",
        **described(
            summary, asked=LegBody, answered=CallView, statuses=CONTROL_ERRORS, example=examples.LEG
        ),
    )
    async def on_leg_of(
        call_id: CallId,
        who: AuthenticatedUser,
        voice: Voice,
        asked: Annotated[LegBody, Depends(reading(LegBody))],
    ) -> Response:
        return told(await voice.on_leg(who, call_id, deed, asked))


OTHER_BASES = (BASE, "/voice")  # the specification lists the alternative paths without /srmain
for _deed, _summary in (
    ("mute", "Let nobody hear a leg"),
    ("unmute", "Let a leg be heard again"),
    ("hold", "Put a leg on hold"),
    ("unhold", "Take a leg off hold"),
):
    _on_leg(_deed, _summary)
    for _base in OTHER_BASES:
        _on_leg_of(_base, _deed, _summary)
for _base in OTHER_BASES:
    _hangup_of(_base)
