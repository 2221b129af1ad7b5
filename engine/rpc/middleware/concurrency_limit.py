"""Middleware that limits concurrent requests: more are rejected unread, with Retry-After."""

from aiohttp import web
from aiohttp.typedefs import Middleware

from engine.rpc.problems import Handler, problem_response
from wire.rpc import Problem

MAX_STREAMS = 100  # each event stream reads the store by itself


def concurrency_limit(
    max_requests: int, streams: str, max_streams: int = MAX_STREAMS
) -> Middleware:
    """Return the middleware; `streams` is the path of event streams, which have their own limit."""
    running = {True: 0, False: 0}
    limits = {True: max_streams, False: max_requests}

    @web.middleware
    async def limited(request: web.Request, handler: Handler) -> web.StreamResponse:
        is_stream = request.path == streams
        if running[is_stream] >= limits[is_stream]:
            detail = f"{limits[is_stream]} requests are already in progress"
            return problem_response(
                Problem("Not now", 503, "overloaded", detail), {"Retry-After": "1"}
            )
        running[is_stream] += 1
        try:
            return await handler(request)
        finally:
            running[is_stream] -= 1

    return limited
