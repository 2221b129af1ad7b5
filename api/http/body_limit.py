"""No body is larger than we want to hold, whatever its Content-Length says, or if there is none."""

from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.common.errors import ApiError
from api.http.problems import problem_response


class PayloadTooLarge(ApiError):
    """More than we want to hold."""

    status, code = 413, "too_large"


class BodyLimit:
    """Plain ASGI, around the application; paths that take files have limits of their own.

    One that ends in a slash is where other paths begin.
    """

    def __init__(
        self, app: ASGIApp, most_bytes: int, elsewhere: Mapping[str, int] | None = None
    ) -> None:
        self._app = app
        self._max_bytes = most_bytes
        self._max_bytes_by_path = elsewhere or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, as far as it may go."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._limit_for(scope["path"])
        if _told_length(scope) > most:
            await problem_response(PayloadTooLarge.status, PayloadTooLarge.code, _why(most))(
                scope, receive, send
            )
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                raise PayloadTooLarge(_why(most))
            return message

        await self._app(scope, counted, send)

    def _limit_for(self, path: str) -> int:
        beginning = path[: path.rfind("/") + 1]
        return (
            self._max_bytes_by_path.get(path)
            or self._max_bytes_by_path.get(beginning)
            or self._max_bytes
        )


def _why(most_bytes: int) -> str:
    return f"larger than {most_bytes} bytes"


def _told_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
