"""Middleware that says in each response what the request cost the event loop of its calls.

The REST layer charges it to the account that it serves (decision 0106).
"""

from aiohttp import web
from aiohttp.typedefs import Middleware

from base.loop_cost import CHARGE, SERVER_TIMING, from_header, metered, to_header
from engine.rpc.problems import Handler


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
