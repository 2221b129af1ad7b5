"""Requests as spans, under the trace that whoever asks has begun; in use only with tracing on."""

from aiohttp import web
from aiohttp.typedefs import Middleware

from engine.observe.traces import Traces
from engine.rpc.middleware.timing import STREAM, operation_of
from engine.rpc.problems import Handler

TRACE_HEADERS = ("traceparent", "tracestate")
_FAULTY = 500


def trace_headers(request: web.Request) -> dict[str, str]:
    """Give what a request's headers say of the trace that it belongs to."""
    return {name: request.headers[name] for name in TRACE_HEADERS if name in request.headers}


def tracing(traces: Traces) -> Middleware:
    """Give the middleware that opens a span for each request but the stream."""

    @web.middleware
    async def traced(request: web.Request, handler: Handler) -> web.StreamResponse:
        operation = operation_of(request)
        if operation == STREAM:
            return await handler(request)
        with traces.server_span(f"RPC {operation}", trace_headers(request)) as span:
            response = await handler(request)
            span.set_attribute("http.response.status_code", response.status)
            span.end("" if response.status < _FAULTY else f"status {response.status}")
            return response

    return traced
