"""So many requests at once: the rest are refused before they are read, and may be asked again."""

from aiohttp import web
from aiohttp.typedefs import Middleware

from engine.rpc.problems import Handler, problem_response
from wire.rpc import Problem

MAX_STREAMS = 100  # of events; each has its own read of the store


def concurrency_limit(most: int, streams: str, most_streams: int = MAX_STREAMS) -> Middleware:
    """Give the middleware; requests to the path of streams are counted apart, for they stay."""
    running = {True: 0, False: 0}
    limits = {True: most_streams, False: most}

    @web.middleware
    async def limited(request: web.Request, handler: Handler) -> web.StreamResponse:
        is_stream = request.path == streams
        if running[is_stream] >= limits[is_stream]:
            detail = f"{limits[is_stream]} requests run already"
            return problem_response(
                Problem("Not now", 503, "overloaded", detail), {"Retry-After": "1"}
            )
        running[is_stream] += 1
        try:
            return await handler(request)
        finally:
            running[is_stream] -= 1

    return limited
