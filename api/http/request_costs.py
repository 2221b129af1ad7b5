"""Measures what each request costs the event loop, and what it says that engines' loops paid.

`api/auth/dependencies.py` lets a request wait there for its account's share, as soon as a key has
authenticated it: before its body is decoded, which may cost most. Responses in pieces (downloads,
live events) are sent by tasks of their own, which are not measured; they have limits in number.
"""

from starlette.types import ASGIApp, Receive, Scope, Send

from api.common.loop_shares import RequestCost
from base.loop_cost import CHARGE, metered


class RequestCosts:
    """ASGI middleware, around all that is to be measured."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        cost = RequestCost()
        scope.setdefault("state", {})["cost"] = cost
        CHARGE.set(cost.add)
        try:
            await metered(_run(self._app, scope, receive, send), cost.add)
        finally:
            cost.end()


async def _run(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Turn what an application returns into a coroutine."""
    await app(scope, receive, send)
