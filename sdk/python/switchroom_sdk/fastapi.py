"""FastAPI: routes for webhooks, which are verified and parsed; handlers return verbs.

app = FastAPI()
webhooks = Webhooks(app)

@webhooks.post("/answer")
async def answer(call: ActionRequest) -> Say:
return say("Press one for sales.").gather(max_digits=1, action="/menu")
"""

import inspect
from collections.abc import Callable, Sequence
from typing import TypeVar
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool

from switchroom_sdk.errors import VerificationFailed
from switchroom_sdk.receiver import (
    MAX_BODY_BYTES,
    Handler,
    Receiver,
    Reply,
    expected_of,
    rejection,
)

H = TypeVar("H", bound=Handler)


class Webhooks:
    """Adds routes to an application; `secret` and `public_url` default to the environment's."""

    def __init__(
        self,
        app: FastAPI | APIRouter,
        *,
        secret: str | Sequence[str] | None = None,
        public_url: str | None = None,
    ) -> None:
        self._app = app
        self._receiver = Receiver(secret, public_url)

    def post(self, path: str) -> Callable[[H], H]:
        """Serve a path; the handler's first parameter says which body it expects.

        A second one is the `Request`, with `query_params` and `path_params`.

        It returns a verb, an address that returns one, or None if there is nothing to add.
        """

        def added(handler: H) -> H:
            expected = expected_of(handler)

            async def serve(request: Request) -> Response:
                body = await _body(request)
                if body is None:
                    return Response(status_code=413)
                peer = request.client.host if request.client else ""
                try:
                    received = self._receiver.read(
                        expected.body, body, request.headers, peer, _target(request)
                    )
                except VerificationFailed as error:
                    return _response(rejection(error))
                arguments = expected.arguments(received, request)
                if inspect.iscoroutinefunction(handler):
                    action = await handler(*arguments)
                else:
                    action = await run_in_threadpool(handler, *arguments)
                return _response(self._receiver.reply(action, str(request.base_url)))

            self._app.add_api_route(path, serve, methods=["POST"], name=handler.__name__)
            return handler

        return added


def _target(request: Request) -> str:
    """Return path and query as they came."""
    raw_path: bytes | None = request.scope.get("raw_path")
    path = quote(request.scope["path"]) if raw_path is None else raw_path.decode("latin-1")
    query = request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


async def _body(request: Request) -> bytes | None:
    """Return the body as it came; None: it is too large."""
    received = bytearray()
    async for chunk in request.stream():
        received += chunk
        if len(received) > MAX_BODY_BYTES:
            return None
    return bytes(received)


def _response(reply: Reply) -> Response:
    kind = "application/json" if reply.body else None
    return Response(reply.body, reply.status, media_type=kind)
