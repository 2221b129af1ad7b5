"""`GET /srmain/voice/events`: an account's call events as they happen."""

from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from api.auth.dependencies import AuthenticatedUser, authenticate
from api.auth.service import Principal
from api.cdrs.routes import slice_of
from api.http.msgspec_adapter import described

router = APIRouter(tags=["Live events"])


@router.get(
    "/srmain/voice/events",
    **described("Call events as they happen", statuses=(401, 429, 503)),
)
async def live_events(
    who: AuthenticatedUser,
    request: Request,
    last_event_id: Annotated[str | None, Header(max_length=16_384)] = None,
) -> Response:
    """Follow the account's events, from now on or after the one with a Last-Event-ID."""

    async def door() -> Principal:
        return await authenticate(request)

    return await slice_of(request).live.stream(who.account_id, last_event_id, door)
