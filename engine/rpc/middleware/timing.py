"""Middleware that measures request durations by operation and status."""

from time import perf_counter

from aiohttp import web
from aiohttp.typedefs import Middleware

from engine.observe.metrics import Metrics
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
