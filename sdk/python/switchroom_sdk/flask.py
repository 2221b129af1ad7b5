"""Flask: routes for webhooks, which are verified and parsed; handlers return verbs.

app = Flask(__name__)
webhooks = Webhooks(app)

@webhooks.post("/answer")
def answer(call: ActionRequest) -> Say:
return say("Press one for sales.").gather(max_digits=1, action="/menu")
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

from flask import Flask, Response, request

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
        app: Flask,
        *,
        secret: str | Sequence[str] | None = None,
        public_url: str | None = None,
    ) -> None:
        self._app = app
        self._receiver = Receiver(secret, public_url)

    def post(self, path: str) -> Callable[[H], H]:
        """Serve a path; the handler's first parameter says which body it expects.

        A second one is the `request`, with `args` (of the query) and `view_args` (of the path).

        It returns a verb, an address that returns one, or None if there is nothing to add.
        """

        def added(handler: H) -> H:
            expected = expected_of(handler)

            def serve(**_: Any) -> Response:
                request.max_content_length = MAX_BODY_BYTES  # a larger body is 413
                body = request.get_data()
                try:
                    received = self._receiver.read(
                        expected.body,
                        body,
                        dict(request.headers),
                        request.remote_addr or "",
                        _target(),
                    )
                except VerificationFailed as error:
                    return _response(rejection(error))
                action = handler(*expected.arguments(received, request))
                return _response(self._receiver.reply(action, request.host_url))

            self._app.add_url_rule(path, handler.__name__, serve, methods=["POST"])
            return handler

        return added


def _target() -> str:
    """Return path and query as they came, which servers give one of these names."""
    for name in ("RAW_URI", "REQUEST_URI"):
        if found := request.environ.get(name):
            return str(found)
    query = request.query_string.decode("latin-1")
    path = quote(request.root_path + request.path)
    return f"{path}?{query}" if query else path


def _response(reply: Reply) -> Response:
    kind = "application/json" if reply.body else None
    return Response(reply.body, reply.status, content_type=kind)
