"""`GET /srmain/voice/events`: an account's call events as they happen."""

from typing import Annotated

from fastapi import Header, Request, Response

from api.auth.dependencies import AuthenticatedUser, identify
from api.auth.principal import Principal
from api.cdrs.live.stream import LiveEvents
from api.http.routes import Routes
from api.http.services import service

routes = Routes("Live events")


@routes.get("/srmain/voice/events", id="events.stream", scope="calls", errors=(429, 503))
async def live_events(
    user: AuthenticatedUser,
    request: Request,
    live: Annotated[LiveEvents, service("cdrs.live")],
    last_event_id: Annotated[str | None, Header(max_length=16_384)] = None,
) -> Response:
    """Stream the account's call events as server-sent events.

    The stream starts now, or after the event that Last-Event-ID names.
    """

    async def reauthenticate() -> Principal:
        return await identify(request)

    return await live.stream(user.account_id, last_event_id, reauthenticate)
