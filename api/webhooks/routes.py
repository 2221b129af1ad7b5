"""`/srmain/voice/webhooks…`: every attempt to reach the servers of an account."""

from typing import Annotated

from fastapi import Header, Path, Query, Request, Response

from api.auth.dependencies import AuthenticatedUser, identify
from api.auth.principal import Principal
from api.http.routes import Routes
from api.http.services import service
from api.webhooks.schemas import ID_PATTERN, AttemptDetails, AttemptPage, AttemptQuery
from api.webhooks.service import WebhookLogService

routes = Routes("Webhook log")
BASE = "/srmain/voice/webhooks"
Log = Annotated[WebhookLogService, service("webhooks")]
AttemptId = Annotated[str, Path(alias="id", max_length=64)]


@routes.get(BASE, id="webhooks.list", scope="webhooks", errors=(503,))
async def list_attempts(
    user: AuthenticatedUser, query: Annotated[AttemptQuery, Query()], log: Log
) -> AttemptPage:
    """List attempts to reach the account's servers, the latest first.

    A page may be short although there is a `nextCursor`. With `after`, the earliest are first.
    """
    return await log.list(user.account_id, query)


@routes.get(f"{BASE}/events", id="webhooks.stream", scope="webhooks", errors=(503,))
async def live_attempts(
    user: AuthenticatedUser,
    request: Request,
    log: Log,
    last_event_id: Annotated[str | None, Header(pattern=ID_PATTERN)] = None,
) -> Response:
    """Stream attempts as server-sent events.

    The stream starts now, or after the attempt that Last-Event-ID names.
    """

    async def reauthenticate() -> Principal:
        return await identify(request)

    return await log.stream(user.account_id, last_event_id, reauthenticate)


@routes.get(f"{BASE}/{{id}}", id="webhooks.get", scope="webhooks", errors=(404, 503))
async def get_attempt(user: AuthenticatedUser, attempt_id: AttemptId, log: Log) -> AttemptDetails:
    """Show an attempt with its request and response.

    Signatures, secrets and sensitive digits are masked.
    """
    return await log.get(user.account_id, attempt_id)


@routes.post(
    f"{BASE}/{{id}}/retry",
    id="webhooks.retry",
    scope="webhooks",
    errors=(404, 409, 503),
    idempotent=True,
)
async def retry_attempt(user: AuthenticatedUser, attempt_id: AttemptId, log: Log) -> AttemptDetails:
    """Send the request of an attempt again, with the same idempotency key.

    The response is the new attempt; no call changes. What the log does not have in full cannot be
    repeated (`not_repeatable`).
    """
    return await log.retry(user.account_id, attempt_id)
