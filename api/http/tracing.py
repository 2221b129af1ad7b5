"""A span for each request, in the client's trace; used only if tracing is on."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.request_middleware import route_of
from base.tracing import RequestTraces, Span

TRACE_HEADERS = frozenset({b"traceparent", b"tracestate"})
FIRST_SERVER_ERROR = 500
_STREAM = (b"content-type", b"text/event-stream")


class Tracing:
    """The layer around all others, so that each request to an engine carries its span."""

    def __init__(self, app: ASGIApp, traces: RequestTraces) -> None:
        self._app = app
        self._traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with self._traces.server_span(f"REST {scope['method']}", _trace_headers(scope)) as span:
            status = 0

            async def send_traced(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                    if _STREAM in _short(message):  # it lasts as long as its reader wants
                        _end(span, scope, status)
                await send(message)

            await self._app(scope, receive, send_traced)
            _end(span, scope, status)


def _trace_headers(scope: Scope) -> dict[str, str]:
    """Return the request's trace context headers."""
    return {
        str(name, "ascii"): str(value, "latin-1")
        for name, value in scope["headers"]
        if name in TRACE_HEADERS
    }


def _short(message: Message) -> set[tuple[bytes, bytes]]:
    return {(name, value.partition(b";")[0]) for name, value in message.get("headers", ())}


def _end(span: Span, scope: Scope, status: int) -> None:
    """End the span; a path would hold ids, so its route names it."""
    route = route_of(scope)
    span.set_name(f"REST {scope['method']} {route}")
    span.set_attribute("http.request.method", scope["method"])
    span.set_attribute("http.route", route)
    span.set_attribute("http.response.status_code", status)
    if account_id := scope.get("state", {}).get("account_id"):
        span.set_attribute("switchroom.account", account_id)
    span.end("" if 0 < status < FIRST_SERVER_ERROR else f"status {status}")
