"""Middleware that limits concurrent requests: more are rejected unread, with Retry-After."""

from collections import Counter
from typing import Annotated, Literal

from aiohttp import web
from aiohttp.typedefs import Middleware

from base.limit import Limit
from engine.rpc.problems import Handler, problem_response
from wire.error_codes.problems import coded_problem

MAX_STREAMS = 100  # each event stream reads the store by itself
MAX_ACCOUNT_STREAMS: Annotated[
    int, Limit("account", "503 `overloaded`", "Event streams of one account from one engine.")
] = 20
Kind = Literal["request", "stream", "group"]


def concurrency_limit(
    max_requests: int,
    streams: str,
    max_streams: int = MAX_STREAMS,
    max_account_streams: int = MAX_ACCOUNT_STREAMS,
) -> Middleware:
    """Return the middleware; `streams` is the path of event streams, which have their own limit.

    Those of consumer groups are counted apart: no number of other readers stops call records.
    One account's streams leave room for those of others, however many REST processes it uses.
    """
    running = Counter[Kind]()
    accounts = Counter[str]()
    limits: dict[Kind, int] = {
        "request": max_requests,
        "stream": max_streams,
        "group": max_streams,
    }

    def kind_of(request: web.Request) -> Kind:
        if request.path != streams:
            return "request"
        return "group" if "group" in request.query else "stream"

    @web.middleware
    async def limited(request: web.Request, handler: Handler) -> web.StreamResponse:
        kind = kind_of(request)
        if running[kind] >= limits[kind]:
            return _overloaded(f"{limits[kind]} requests are already in progress")
        account = request.query.get("account", "") if kind == "stream" else ""
        if account and accounts[account] >= max_account_streams:
            return _overloaded(f"{max_account_streams} streams of the account are open")
        running[kind] += 1
        accounts[account] += 1
        try:
            return await handler(request)
        finally:
            running[kind] -= 1
            accounts[account] -= 1
            if not accounts[account]:
                del accounts[account]

    return limited


def _overloaded(detail: str) -> web.Response:
    return problem_response(coded_problem(503, "overloaded", detail), {"Retry-After": "1"})
