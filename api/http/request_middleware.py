"""What every request goes through: an id, a line in the log, a place in the metrics, no escape."""

import re
import secrets
import time
from typing import Any

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.problems import problem_response
from api.metrics import Metrics

log = structlog.get_logger()
_ID = re.compile(rb"[A-Za-z0-9_\-]{1,64}")
QUIET_ROUTES = {"/healthz", "/readyz", "/metrics"}  # asked for every few seconds
UNKNOWN_ROUTE = "unknown"  # an address that is nobody's: a stranger must not name our series


class RequestMiddleware:
    """The outermost layer; plain ASGI, for Starlette's own kind costs a task a request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began_s, request_id, status = time.perf_counter(), _request_id(scope), 0
        is_whole = False
        structlog.contextvars.bind_contextvars(request_id=request_id)

        async def told(message: Message) -> None:
            nonlocal status, is_whole
            is_whole = message["type"] == "http.response.body" and not message.get("more_body")
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"x-request-id", request_id.encode()),
                ]
            await send(message)

        try:
            await self._app(scope, receive, told)
        except Exception:
            log.exception("request failed", route=_route(scope))  # a path may hold a token
            if not status:
                await problem_response(500, "internal")(scope, receive, told)
            elif not is_whole:
                raise  # half an answer is told: the connection ends
        finally:
            self._record(scope, status, time.perf_counter() - began_s)
            structlog.contextvars.unbind_contextvars("request_id")

    def _record(self, scope: Scope, status: int, took_s: float) -> None:
        route = _route(scope)
        self._metrics.requests.labels(scope["method"], route, str(status)).observe(took_s)
        told = log.debug if route in QUIET_ROUTES else log.info
        told(
            "request",
            method=scope["method"],
            route=route,
            status=status,
            took_ms=round(took_s * 1_000, 2),
            account=scope.get("state", {}).get("account_id"),
        )


def _route(scope: Scope) -> str:
    found: str = getattr(scope.get("route"), "path", UNKNOWN_ROUTE)
    return found


def _request_id(scope: Scope) -> str:
    headers: Any = scope["headers"]
    for name, value in headers:
        if name == b"x-request-id" and _ID.fullmatch(value):
            return str(value, "ascii")
    return secrets.token_hex(16)
