"""Conferences over REST (spec, "Voice")."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from api.auth.dependencies import AuthenticatedUser
from api.http.idempotency import IdempotencyKey
from api.http.msgspec_adapter import described, reading
from api.http.responses import once, told
from api.voice import examples
from api.voice.dependencies import CONTROL_ERRORS, READ_ERRORS, Sessions
from api.voice.routes import BASE
from api.voice.schemas import CallBody
from api.voice.sessions.schemas import AddMembersBody, KickBody, LeaveBody
from wire.control import ConferenceView

router = APIRouter(tags=["Conferences"])


@router.post(
    f"{BASE}/conference/add-members",
    **described(
        "Call a member into a conference",
        asked=AddMembersBody,
        answered=ConferenceView,
        statuses=CONTROL_ERRORS,
        example=examples.ADD,
    ),
)
async def add_members(
    request: Request,
    who: AuthenticatedUser,
    sessions: Sessions,
    asked: Annotated[AddMembersBody, Depends(reading(AddMembersBody))],
    key: IdempotencyKey = None,
) -> Response:
    """Call an agent or an outside number in; the first makes a conference of those who talk."""

    async def deed(_request_id: str) -> bytes:
        return await sessions.add(who, asked)

    return told(await once(request, who, key, deed))


@router.post(
    f"{BASE}/conference/kick",
    **described(
        "Put a member out",
        asked=KickBody,
        answered=ConferenceView,
        statuses=CONTROL_ERRORS,
        example=examples.KICK,
    ),
)
async def kick(
    who: AuthenticatedUser,
    sessions: Sessions,
    asked: Annotated[KickBody, Depends(reading(KickBody))],
) -> Response:
    """Put a member out."""
    return told(await sessions.kick(who, asked))


@router.post(
    f"{BASE}/conference/leave",
    **described(
        "Leave a conference",
        asked=LeaveBody,
        answered=ConferenceView,
        statuses=CONTROL_ERRORS,
        example=examples.LEAVE,
    ),
)
async def leave(
    who: AuthenticatedUser,
    sessions: Sessions,
    asked: Annotated[LeaveBody, Depends(reading(LeaveBody))],
) -> Response:
    """Let a member leave."""
    return told(await sessions.leave(who, asked))


@router.post(
    f"{BASE}/conference/members",
    **described(
        "Show the conference of a call",
        asked=CallBody,
        answered=ConferenceView,
        statuses=READ_ERRORS,
        example={"callId": examples.CALL},
    ),
)
async def members(
    who: AuthenticatedUser,
    sessions: Sessions,
    asked: Annotated[CallBody, Depends(reading(CallBody))],
) -> Response:
    """Show the conference of a call, the live one or the last."""
    return told(await sessions.members(who, asked.call_id))


@router.get(
    f"{BASE}/conference/my",
    **described(
        "Show the conference of the token's agent", answered=ConferenceView, statuses=READ_ERRORS
    ),
)
async def my_conference(who: AuthenticatedUser, sessions: Sessions) -> Response:
    """Show the live conference that the token's agent is in."""
    return told(await sessions.my(who))
