"""Limits the size of request bodies, whatever their Content-Length says, or without one."""

from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.common.errors import ApiError
from api.http.problems import problem_response


class PayloadTooLarge(ApiError):
    status, code = 413, "too_large"


class BodyLimit:
    """ASGI middleware with a default limit, and other limits for paths that take files.

    A path that ends in a slash is a prefix.
    """

    def __init__(self, app: ASGIApp, max_bytes: int, max_bytes_by_path: Mapping[str, int]) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._max_bytes_by_path = max_bytes_by_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit_for(scope["path"])
        if _content_length(scope) > limit:
            response = problem_response(PayloadTooLarge.status, PayloadTooLarge.code, _text(limit))
            await response(scope, receive, send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise PayloadTooLarge(_text(limit))
            return message

        await self._app(scope, counted, send)

    def _limit_for(self, path: str) -> int:
        prefix = path[: path.rfind("/") + 1]
        limits = self._max_bytes_by_path
        return limits.get(path) or limits.get(prefix) or self._max_bytes


def _text(max_bytes: int) -> str:
    return f"the body is larger than {max_bytes} bytes"


def _content_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
