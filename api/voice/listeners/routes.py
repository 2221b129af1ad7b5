"""`/srmain/voice/listeners`: machines that answer webhooks (docs/webhooks-in-development.md)."""

from typing import Annotated

from fastapi import Path, Query, Request, Response

from api.auth.dependencies import AuthenticatedUser
from api.http.routes import Body, Routes
from api.http.services import service
from api.voice.listeners.schemas import ListenerList, ListenerView, RequestsQuery
from api.voice.listeners.service import ListenerService
from wire.listeners import ListenerRequests, ListenerResponse, NewListener

routes = Routes("Webhooks in development")
BASE = "/srmain/voice/listeners"
RESPONSES = f"{BASE}/{{id}}/responses/{{request}}"
Service = Annotated[ListenerService, service("listeners")]
ListenerId = Annotated[str, Path(alias="id", max_length=64)]
RequestId = Annotated[str, Path(alias="request", max_length=64)]


@routes.post(
    BASE,
    id="listeners.create",
    scope="listen",
    status=201,
    errors=(404, 409, 503),
    example={"number": "+4721930000"},
    idempotent=True,
)
async def create_listener(
    user: AuthenticatedUser, listeners: Service, body: Body[NewListener]
) -> ListenerView:
    """Start a listener for the webhooks of a number or call, within a second.

    The number's route has to allow it (`allowListeners`). It replaces an earlier one for the same
    number or call, and ends four seconds after its last poll.
    """
    return await listeners.create(user.account_id, body)


@routes.get(BASE, id="listeners.list", scope="listen", errors=(503,))
async def list_listeners(user: AuthenticatedUser, listeners: Service) -> ListenerList:
    """List the live listeners, oldest first."""
    return await listeners.list(user.account_id)


@routes.get(
    f"{BASE}/{{id}}/requests", id="listeners.requests", scope="listen", errors=(404, 409, 503)
)
async def poll_requests(
    listener_id: ListenerId,
    user: AuthenticatedUser,
    request: Request,
    query: Annotated[RequestsQuery, Query()],
    listeners: Service,
) -> ListenerRequests:
    """Wait for requests after a position; each wants one response, until its `untilMs`."""

    async def is_connected() -> bool:
        return not await request.is_disconnected()

    return await listeners.requests(user.account_id, listener_id, query, is_connected)


@routes.post(
    RESPONSES,
    id="listeners.respond",
    scope="listen",
    status=204,
    errors=(404, 409, 503),
    example={"status": 200, "headers": {"Content-Type": "application/json"}, "body": "{}"},
)
async def respond(
    listener_id: ListenerId,
    request_id: RequestId,
    user: AuthenticatedUser,
    listeners: Service,
    body: Body[ListenerResponse],
) -> Response:
    """Send the response of a request, or why there is none; the first one counts."""
    await listeners.respond(user.account_id, listener_id, request_id, body)
    return Response(status_code=204)


@routes.delete(
    f"{BASE}/{{id}}", id="listeners.delete", scope="listen", errors=(404, 503), status=204
)
async def delete_listener(
    listener_id: ListenerId, user: AuthenticatedUser, listeners: Service
) -> Response:
    """End a listener; its open requests go to their addresses."""
    await listeners.delete(user.account_id, listener_id)
    return Response(status_code=204)
