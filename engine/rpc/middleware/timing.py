"""How long requests take, by operation and status."""

from time import perf_counter

from aiohttp import web
from aiohttp.typedefs import Middleware

from engine.observe.metrics import Metrics
from engine.rpc.problems import Handler

UNKNOWN = "unknown"  # an address that is nobody's: a stranger must not name our series
STREAM = "GET /events"  # lasts as long as its listener stays


def timing(meter: Metrics) -> Middleware:
    """Give the middleware that times all requests but the stream."""

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
    """Name what is asked, as `operations` does: its method and its path, ids left open."""
    resource = request.match_info.route.resource
    if resource is None:
        return UNKNOWN
    return f"{request.method} {resource.canonical.removeprefix('/rpc/v1')}"
