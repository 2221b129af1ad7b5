"""Conferences over REST (spec, "Voice")."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from api.auth.routes import Authenticated
from api.http.idempotency import Key
from api.http.msgspec_adapter import described, reading
from api.http.responses import once, told
from api.voice import examples
from api.voice.dependencies import SHOWN, STEERED, Sessions
from api.voice.routes import BASE
from api.voice.schemas import OfCall
from api.voice.sessions.schemas import AddMembers, Kick, Leave
from wire.control import ConferenceView

router = APIRouter(tags=["Conferences"])


@router.post(
    f"{BASE}/conference/add-members",
    **described(
        "Call a member into a conference",
        asked=AddMembers,
        answered=ConferenceView,
        statuses=STEERED,
        example=examples.ADD,
    ),
)
async def add_members(
    request: Request,
    who: Authenticated,
    sessions: Sessions,
    asked: Annotated[AddMembers, Depends(reading(AddMembers))],
    key: Key = None,
) -> Response:
    """Call an agent or an outside number in; the first makes a conference of those who talk."""

    async def deed(_request_id: str) -> bytes:
        return await sessions.add(who, asked)

    return told(await once(request, who, key, deed))


@router.post(
    f"{BASE}/conference/kick",
    **described(
        "Put a member out",
        asked=Kick,
        answered=ConferenceView,
        statuses=STEERED,
        example=examples.KICK,
    ),
)
async def kick(
    who: Authenticated, sessions: Sessions, asked: Annotated[Kick, Depends(reading(Kick))]
) -> Response:
    """Put a member out."""
    return told(await sessions.kick(who, asked))


@router.post(
    f"{BASE}/conference/leave",
    **described(
        "Leave a conference",
        asked=Leave,
        answered=ConferenceView,
        statuses=STEERED,
        example=examples.LEAVE,
    ),
)
async def leave(
    who: Authenticated, sessions: Sessions, asked: Annotated[Leave, Depends(reading(Leave))]
) -> Response:
    """Let a member leave."""
    return told(await sessions.leave(who, asked))


@router.post(
    f"{BASE}/conference/members",
    **described(
        "Show the conference of a call",
        asked=OfCall,
        answered=ConferenceView,
        statuses=SHOWN,
        example={"callId": examples.CALL},
    ),
)
async def members(
    who: Authenticated, sessions: Sessions, asked: Annotated[OfCall, Depends(reading(OfCall))]
) -> Response:
    """Show the conference of a call, the live one or the last."""
    return told(await sessions.members(who, asked.call_id))


@router.get(
    f"{BASE}/conference/my",
    **described(
        "Show the conference of the token's agent", answered=ConferenceView, statuses=SHOWN
    ),
)
async def my_conference(who: Authenticated, sessions: Sessions) -> Response:
    """Show the live conference that the token's agent is in."""
    return told(await sessions.my(who))
