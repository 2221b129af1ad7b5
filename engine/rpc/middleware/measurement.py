"""Middlewares that measure a request: its duration, its span, and what it cost the event loop."""

from time import perf_counter

from aiohttp import web
from aiohttp.typedefs import Middleware

from base.loop_cost import CHARGE, SERVER_TIMING, from_header, metered, to_header
from engine.observe.metrics import Metrics
from engine.observe.telemetry import Traces
from engine.rpc.problems import Handler

UNKNOWN = "unknown"  # path without a route: callers must not create metric series
STREAM = "GET /events"  # lasts as long as the client stays connected


def timing(meter: Metrics) -> Middleware:
    """Return the middleware; event streams are not measured."""

    @web.middleware
    async def timed(request: web.Request, handler: Handler) -> web.StreamResponse:
        operation = operation_of(request)
        if operation == STREAM:
            return await handler(request)
        began_s, status = perf_counter(), "cancelled"
        try:
            response = await handler(request)
            status = str(response.status)
            return response
        finally:
            meter.external.rpc_duration.series(operation, status).observe(perf_counter() - began_s)

    return timed


def operation_of(request: web.Request) -> str:
    """Return the method and path template of a request, such as `GET /calls/{call}`."""
    resource = request.match_info.route.resource
    if resource is None:
        return UNKNOWN
    return f"{request.method} {resource.canonical.removeprefix('/rpc/v1')}"


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


def costs() -> Middleware:
    """Return the middleware; a response that is sent already has no cost, nor have streams."""

    @web.middleware
    async def measured(request: web.Request, handler: Handler) -> web.StreamResponse:
        spent_s = 0.0

        def charge(seconds: float) -> None:
            nonlocal spent_s
            spent_s += seconds

        async def run() -> web.StreamResponse:
            return await handler(request)

        CHARGE.set(charge)
        response = await metered(run(), charge)
        if not response.prepared:
            # Another engine, to which the request was forwarded, has said its own.
            of_other_s = from_header(response.headers.get(SERVER_TIMING))
            response.headers[SERVER_TIMING] = to_header(spent_s + of_other_s)
        return response

    return measured
