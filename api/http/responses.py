"""How answers leave: as the bytes they are, and once for an idempotency key."""

from collections.abc import Awaitable, Callable

from fastapi import Request, Response

from api.auth.service import Principal
from api.http.idempotency import IdempotentRequest, Operation


def told(answer: bytes, status: int = 200) -> Response:
    """Answer with what an engine said."""
    return Response(answer, status, media_type="application/json")


async def once(
    request: Request,
    who: Principal,
    key: str | None,
    deed: Operation,
    sent: Callable[[], Awaitable[bytes]] | None = None,
) -> bytes:
    """Do a deed; with an idempotency key, once. `sent` tells a body that was read as a form."""
    if key is None:
        return await deed("")
    body = await (sent or request.body)()
    asked = IdempotentRequest(who.account_id, key, request.url.path, body)
    answer: bytes = await request.app.state.parts.idempotency.once(asked, deed)
    return answer
