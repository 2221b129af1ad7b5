"""Flask: routes for webhooks, which are verified and parsed; handlers return verbs.

app = Flask(__name__)
webhooks = Webhooks(app)

@webhooks.post("/answer")
def answer(call: ActionRequest) -> Say:
return say("Press one for sales.").gather(max_digits=1, action="/menu")
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from flask import Flask, Response, request

from switchroom_sdk.errors import VerificationFailed
from switchroom_sdk.receiver import (
    MAX_BODY_BYTES,
    Handler,
    Receiver,
    Reply,
    body_type,
    rejection,
)

H = TypeVar("H", bound=Handler)


class Webhooks:
    """Adds routes to an application; `secret` and `public_url` default to the environment's."""

    def __init__(
        self,
        app: Flask,
        *,
        secret: str | Sequence[str] | None = None,
        public_url: str | None = None,
    ) -> None:
        self._app = app
        self._receiver = Receiver(secret, public_url)

    def post(self, path: str) -> Callable[[H], H]:
        """Serve a path; the handler's parameter says which body it expects.

        It returns a verb, an address that returns one, or None if there is nothing to add.
        """

        def added(handler: H) -> H:
            kind = body_type(handler)

            def serve() -> Response:
                request.max_content_length = MAX_BODY_BYTES  # a larger body is 413
                body = request.get_data()
                try:
                    received = self._receiver.read(
                        kind, body, dict(request.headers), request.remote_addr or ""
                    )
                except VerificationFailed as error:
                    return _response(rejection(error))
                return _response(self._receiver.reply(handler(received), request.host_url))

            self._app.add_url_rule(path, handler.__name__, serve, methods=["POST"])
            return handler

        return added


def _response(reply: Reply) -> Response:
    kind = "application/json" if reply.body else None
    return Response(reply.body, reply.status, content_type=kind)
