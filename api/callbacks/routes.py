"""`/srmain/voice/callbacks`: an account's status callbacks."""

from typing import Annotated

from fastapi import Query, Response

from api.auth.dependencies import AuthenticatedUser
from api.callbacks.schemas import CallbackState, DeadLetterPage, DeadLetterQuery
from api.callbacks.service import CallbackService
from api.http.preconditions import IfMatch, tagged_response
from api.http.routes import Body, Routes
from api.http.services import service
from wire.callbacks.account import CallbackTestResult, PutCallback, Resend, ResendResult

routes = Routes("Callbacks")
BASE = "/srmain/voice/callbacks"
Callbacks = Annotated[CallbackService, service("callbacks")]
EXAMPLE = {"target": "https://example.com/status", "concurrency": 32, "perS": 100}


@routes.get(
    BASE,
    id="callbacks.get",
    scope="routes:read",
    returns=CallbackState,
    errors=(404, 503),
    has_etag=True,
)
async def get_callbacks(user: AuthenticatedUser, callbacks: Callbacks) -> Response:
    """Return where status callbacks are sent; without the secret."""
    return tagged_response(*await callbacks.get(user.account_id))


@routes.put(
    BASE,
    id="callbacks.put",
    scope="routes:write",
    returns=CallbackState,
    errors=(412, 503),
    has_etag=True,
    example=EXAMPLE,
)
async def put_callbacks(
    user: AuthenticatedUser, callbacks: Callbacks, body: Body[PutCallback], condition: IfMatch
) -> Response:
    """Set where status callbacks are sent; this restarts a target that is stopped.

    The first time, the response shows the secret that signs them, once.
    """
    return tagged_response(*await callbacks.put(user.account_id, body, condition))


@routes.delete(
    BASE, id="callbacks.delete", scope="routes:write", errors=(404, 412, 503), status=204
)
async def delete_callbacks(
    user: AuthenticatedUser, callbacks: Callbacks, condition: IfMatch
) -> Response:
    """Delete the target, and the secrets at once."""
    await callbacks.delete(user.account_id, condition)
    return Response(status_code=204)


@routes.post(
    f"{BASE}/rotate",
    id="callbacks.rotate",
    scope="routes:write",
    returns=CallbackState,
    errors=(409, 412, 503),
    has_etag=True,
    idempotent=True,
    has_secret=True,
)
async def rotate_secret(
    user: AuthenticatedUser, callbacks: Callbacks, condition: IfMatch
) -> Response:
    """Create a new secret, shown in this response only; for a day both sign.

    With an `Idempotency-Key` the key of the caller gets the same response again.
    """
    return tagged_response(*await callbacks.rotate(user.account_id, condition))


@routes.post(
    f"{BASE}/test", id="callbacks.test", scope="routes:write", errors=(409, 503), idempotent=True
)
async def test_callbacks(user: AuthenticatedUser, callbacks: Callbacks) -> CallbackTestResult:
    """Send a signed test event to the target now, once."""
    return await callbacks.test(user.account_id)


@routes.get(f"{BASE}/dead-letters", id="callbacks.deadLetters", scope="routes:read", errors=(503,))
async def list_dead_letters(
    user: AuthenticatedUser, query: Annotated[DeadLetterQuery, Query()], callbacks: Callbacks
) -> DeadLetterPage:
    """List events that were given up, up to 100 in a page."""
    return await callbacks.dead_letters(user.account_id, query.cursor)


@routes.post(
    f"{BASE}/resend",
    id="callbacks.resend",
    scope="routes:write",
    errors=(409, 503),
    example={"all": True},
    idempotent=True,
)
async def resend_dead_letters(
    user: AuthenticatedUser, callbacks: Callbacks, body: Body[Resend]
) -> ResendResult:
    """Queue dead letters again: those with the given ids, or all."""
    return await callbacks.resend(user.account_id, body)
