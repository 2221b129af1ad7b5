"""What every request passes through: request id, log line, metrics, last-resort error handler.

A blank before the digits of a query's value is read as a plus sign: in a query, a plus sign that is
not escaped means a blank, and people write `?phoneNo=+4721930000`.
"""

import re
import secrets
import time
from typing import Any, Protocol

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.common.account_concurrency import AccountConcurrency
from api.db.database import work_of
from api.http.problems import problem_response
from api.metrics import Metrics
from wire.docs_address import ERROR_PATH
from wire.error_codes.page import PAGE_POLICY

log = structlog.get_logger()
SESSION_COOKIE = "switchroom_session_"  # the beginning of its name
_ID = re.compile(rb"[A-Za-z0-9_\-]{1,64}")
_BLANK_OF_NUMBER = re.compile(rb"=(?:\+|%20)+(?=[0-9(])")
_SESSION_COOKIE = SESSION_COOKIE.encode()
_POLICY = b"content-security-policy"
_CACHING = b"cache-control"
_CONTENT_POLICY = b"default-src 'none'; frame-ancestors 'none'"
_PAGE_POLICY = (  # of /docs, whose script is in the page
    b"default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    b"img-src 'self' data:; frame-ancestors 'none'"
)
_ERROR_PAGE_POLICY = PAGE_POLICY.encode()
_SECURITY_HEADERS = (
    (b"strict-transport-security", b"max-age=31536000"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
)
STRANGERS = "?"  # no account's id: their requests take turns as one account
DENIED = frozenset({401, 403, 429})
UNKNOWN_ROUTE = "unknown"  # strangers must not choose names of our time series


class Audit(Protocol):
    def add(self, scope: Scope, route: str, status: int, request_id: str) -> None:
        """Add a request to the audit trail, if it belongs there."""


class RequestMiddleware:
    """The outermost layer; plain ASGI, because Starlette's base class costs a task per request."""

    def __init__(
        self, app: ASGIApp, metrics: Metrics, audit: Audit, in_flight: AccountConcurrency
    ) -> None:
        self._audit = audit
        self._in_flight = in_flight
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started_s, request_id, status = time.perf_counter(), _request_id(scope), 0
        is_complete = False
        structlog.contextvars.bind_contextvars(request_id=request_id)
        work_of.set(STRANGERS)  # until a key authenticates it
        scope["query_string"] = _with_plus(scope["query_string"])
        scope["headers"] = [_with_our_cookies(*each) for each in scope["headers"]]

        async def send_with_id(message: Message) -> None:
            nonlocal status, is_complete
            is_complete = message["type"] == "http.response.body" and not message.get("more_body")
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message.get("headers", ())
                message["headers"] = [
                    *headers,
                    (b"x-request-id", request_id.encode()),
                    *scope.get("state", {}).get("rate_limit", ()),
                    *_SECURITY_HEADERS,
                ]
                names = {name.lower() for name, _ in headers}
                if _POLICY not in names:  # pages of the console set one
                    message["headers"].append((_POLICY, _policy(scope["path"])))
                if _CACHING not in names:  # what anybody may keep says so: it shows no secret
                    message["headers"].append((_CACHING, b"no-store"))
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except Exception:
            log.exception("request failed", route=route_of(scope))  # a path may hold a token
            if not status:
                await problem_response(500, "internal")(scope, receive, send_with_id)
            elif not is_complete:
                raise  # half of the response is sent: close the connection
        finally:
            if account_id := scope.get("state", {}).get("in_flight_of"):
                self._in_flight.end(account_id)
            self._record(scope, status, time.perf_counter() - started_s)
            self._audit.add(scope, route_of(scope), status, request_id)
            structlog.contextvars.unbind_contextvars("request_id")

    def _record(self, scope: Scope, status: int, duration_s: float) -> None:
        route = route_of(scope)
        self._metrics.requests.labels(scope["method"], route, str(status)).observe(duration_s)
        state = scope.get("state", {})
        address = (scope.get("client") or ("",))[0]
        if status in DENIED:  # in this form for fail2ban (docs/rest.md)
            log.warning("request denied", address=address, status=status, route=route)
        log.info(
            "request",
            method=scope["method"],
            route=route,
            status=status,
            took_ms=round(duration_s * 1_000, 2),
            account=state.get("account_id"),
            key=state.get("key_id"),
            agent=state.get("agent_id"),
            address=address,
        )


def _with_plus(query: bytes) -> bytes:
    return _BLANK_OF_NUMBER.sub(b"=%2B", query)


def _with_our_cookies(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Leave out cookies of others, and in quotes, which ours have not.

    FastAPI reads all cookies of each request, and Python before 3.11.10 and 3.12.6 takes quadratic
    time for those in quotes (CVE-2024-7592).
    """
    if name == b"cookie":
        cookies = (each for each in value.split(b";") if each.strip().startswith(_SESSION_COOKIE))
        value = b";".join(each for each in cookies if b'"' not in each)
    return name, value


def route_of(scope: Scope) -> str:
    """Return the template of the path; known once the request has been routed."""
    found: str = getattr(scope.get("route"), "path", UNKNOWN_ROUTE)
    return found


def _policy(path: str) -> bytes:
    if path == ERROR_PATH or path.startswith(f"{ERROR_PATH}/"):
        return _ERROR_PAGE_POLICY
    return _PAGE_POLICY if path == "/docs" else _CONTENT_POLICY


def _request_id(scope: Scope) -> str:
    headers: Any = scope["headers"]
    for name, value in headers:
        if name == b"x-request-id" and _ID.fullmatch(value):
            return str(value, "ascii")
    return secrets.token_hex(16)
