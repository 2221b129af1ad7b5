"""Middleware that opens a span per request, within the caller's trace; used if tracing is on."""

from aiohttp import web
from aiohttp.typedefs import Middleware

from engine.observe.telemetry import Traces
from engine.rpc.middleware.timing import STREAM, operation_of
from engine.rpc.problems import Handler

TRACE_HEADERS = ("traceparent", "tracestate")
_FIRST_SERVER_ERROR = 500


def trace_headers(request: web.Request) -> dict[str, str]:
    """Return the request's trace context headers."""
    return {name: request.headers[name] for name in TRACE_HEADERS if name in request.headers}


def tracing(traces: Traces) -> Middleware:
    """Return the middleware; event streams get no span."""

    @web.middleware
    async def traced(request: web.Request, handler: Handler) -> web.StreamResponse:
        operation = operation_of(request)
        if operation == STREAM:
            return await handler(request)
        with traces.server_span(f"RPC {operation}", trace_headers(request)) as span:
            response = await handler(request)
            span.set_attribute("http.response.status_code", response.status)
            span.end("" if response.status < _FIRST_SERVER_ERROR else f"status {response.status}")
            return response

    return traced
