"""Limits queries, and the size of bodies, whatever their Content-Length says, or without one.

Each route has a limit. Whoever sends to a route without a key may be anybody, so such a route takes
a few KB, unless it says another limit.
"""

from collections.abc import Callable
from typing import Annotated

from fastapi.routing import APIRoute
from starlette.types import Message, Receive, Scope, Send

from api.common.errors import ApiError
from api.config import LimitSettings
from base.limit import Limit

PUBLIC_BYTES: Annotated[
    int, Limit("request", "413 `too_large`", "Size of a body to a route that needs no key.")
] = 4_096
MAX_PARAMETERS: Annotated[
    int, Limit("request", "414 `request_rejected`", "Parameters in a query.")
] = 100
BodySize = Callable[[LimitSettings], int]  # the limit in bytes


def of_request(settings: LimitSettings) -> int:
    """Return the limit of most bodies of authenticated requests."""
    return settings.max_body_bytes


def of_file(settings: LimitSettings) -> int:
    """Return the limit of forms with a file."""
    return settings.max_upload_bytes


class PayloadTooLarge(ApiError):
    status, code = 413, "too_large"


class QueryTooLong(ApiError):
    status, code = 414, "request_rejected"


class LimitedRoute(APIRoute):
    """A route with a limit of its bodies; None: it needs no key."""

    body_size: BodySize | None = None

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; raises PayloadTooLarge or QueryTooLong."""
        if scope["query_string"].count(b"&") >= MAX_PARAMETERS:
            raise QueryTooLong(f"the query has more than {MAX_PARAMETERS} parameters")
        limit = PUBLIC_BYTES
        if self.body_size is not None:
            limit = self.body_size(scope["state"]["services"].settings)
        if _content_length(scope) > limit:
            raise PayloadTooLarge(_text(limit))
        await super().handle(scope, _limited(receive, limit), send)


def _limited(receive: Receive, limit: int) -> Receive:
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise PayloadTooLarge(_text(limit))
        return message

    return counted


def _text(max_bytes: int) -> str:
    return f"the body is larger than {max_bytes} bytes"


def _content_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
