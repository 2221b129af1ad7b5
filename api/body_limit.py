"""No body is larger than we want to hold, whatever its Content-Length says, or if there is none."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import Refused, problem


class TooLarge(Refused):
    """More than we want to hold."""

    status, code = 413, "too_large"


class BodyLimit:
    """Plain ASGI, around the application."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self._app = app
        self._most = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, as far as it may go."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _told_length(scope) > self._most:
            await problem(TooLarge.status, TooLarge.code, self._why)(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most:
                raise TooLarge(self._why)
            return message

        await self._app(scope, counted, send)

    @property
    def _why(self) -> str:
        return f"larger than {self._most} bytes"


def _told_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
