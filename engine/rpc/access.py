"""Who may use the RPC: clients with a bearer token, and the other engines by their signatures."""

import hmac
import time
from collections.abc import Callable
from ssl import SSLContext

import structlog
from aiohttp import web
from aiohttp.typedefs import Middleware
from msgspec import Struct

from base.metrics import Counter
from engine.rpc.peers.signature import (
    RequestLine,
    Signature,
    SignatureVerifier,
    digest_of,
    parse_signature,
)
from engine.rpc.problems import Handler, problem_response
from wire.error_codes.problems import coded_problem

log = structlog.get_logger()
_READS = ("GET", "HEAD")
AUDITED_PATHS = tuple(
    f"/rpc/v1/{each}"
    for each in (
        "agents",
        "callbacks",
        "documents",
        "erasures",
        "events/groups",
        "flows",
        "listeners",
        "nodes",
        "recordings",
        "requests",
        "routes",
        "slots",
        "terms",
        "webhooks",
    )
)  # settings of accounts and of the platform


class RpcClient(Struct, frozen=True):
    """Who has one of these tokens; one that is `read_only` may change nothing."""

    name: str
    tokens: tuple[str, ...]
    read_only: bool = False


# Names that no client in the settings can have.
ANY_CLIENT = "rpc_token"
OTHER_ENGINE = RpcClient("other_engine", ())


class RpcAccess(Struct, frozen=True):
    """The engine's own URL, its token, and further tokens that it accepts while the token changes.

    `clients` have tokens of their own.
    `server_tls` is of its own port; `client_tls` verifies the other engines. `clock` is a time in
    seconds that all engines share.
    """

    url: str
    token: str
    further_tokens: tuple[str, ...] = ()
    server_tls: SSLContext | None = None
    client_tls: SSLContext | None = None
    clock: Callable[[], float] = time.time
    clients: tuple[RpcClient, ...] = ()

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of engines, and of clients without one of their own."""
        return (self.token, *self.further_tokens)


class _Denied(Exception):
    """A request that is answered with 401, or with 403 if its sender is known."""

    def __init__(self, reason: str, detail: str, client: str = "") -> None:
        super().__init__(detail)
        self.reason = reason
        self.client = client


class _Authenticator:
    """Finds out who sends a request."""

    def __init__(self, access: RpcAccess) -> None:
        self._url = access.url
        self._verifier = SignatureVerifier(access.tokens, access.clock)
        clients = (RpcClient(ANY_CLIENT, access.tokens), *access.clients)
        self._bearers = [
            (f"Bearer {token}".encode(), client) for client in clients for token in client.tokens
        ]

    async def client_of(self, request: web.Request) -> RpcClient:
        """Return who sends a request; raises _Denied."""
        header = request.headers.get("Authorization", "")
        signature = parse_signature(header)
        if signature is not None:
            await self._verify(request, signature)
            return OTHER_ENGINE
        given = header.encode(errors="surrogateescape")
        # Every token is compared, so that the time does not tell which one is similar.
        found = [client for each, client in self._bearers if hmac.compare_digest(given, each)]
        if not found:
            raise _Denied("token", "wrong or no bearer token")
        return found[0]

    async def _verify(self, request: web.Request, signature: Signature) -> None:
        line = RequestLine(self._url, request.method, request.raw_path)
        if refused := self._verifier.verify(line, signature):
            raise _Denied("signature", refused)
        # The body is read only now: the sender is known.
        if digest_of(await request.read()) != signature.body_digest:
            raise _Denied("signature", "the body is not the signed one")


def authentication(access: RpcAccess, denied: Counter) -> Middleware:
    """Return the middleware that answers all others with 401; `denied` counts them by reason."""
    authenticator = _Authenticator(access)

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            client = await authenticator.client_of(request)
            _check_read_only(request, client)
        except _Denied as error:
            denied.table()[error.reason] += 1
            return _deny(request, error)
        if request.method != "GET" and request.path.startswith(AUDITED_PATHS):
            log.info(
                "rpc write",
                client=client.name,
                method=request.method,
                path=request.path,
                address=request.remote,
            )
        return await handler(request)

    return check


def _check_read_only(request: web.Request, client: RpcClient) -> None:
    # A read for a consumer group takes its events away from the group's other readers.
    is_read = request.method in _READS and "group" not in request.query
    if client.read_only and not is_read:
        detail = f"client {client.name} is read-only: GET, except for a consumer group"
        raise _Denied("read_only", detail, client.name)


def _deny(request: web.Request, error: _Denied) -> web.Response:
    status, code = (403, "read_only") if error.client else (401, "unauthenticated")
    log.warning(
        "request denied",
        address=request.remote,
        status=status,
        route="rpc",
        client=error.client,
        reason=error.reason,
    )
    headers = {} if error.client else {"WWW-Authenticate": "Bearer"}
    return problem_response(coded_problem(status, code, str(error)), headers)
