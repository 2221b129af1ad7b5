"""Who may use the RPC: clients with a bearer token, and the other engines by their signatures."""

import hmac
import time
from collections.abc import Callable
from ssl import SSLContext

import structlog
from aiohttp import web
from aiohttp.typedefs import Middleware
from msgspec import Struct

from engine.rpc.peers.signature import (
    RequestLine,
    SignatureVerifier,
    digest_of,
    parse_signature,
)
from engine.rpc.problems import Handler, problem_response
from wire.rpc import Problem

log = structlog.get_logger()
AUDITED_PATHS = tuple(
    f"/rpc/v1/{each}"
    for each in (
        "agents",
        "callbacks",
        "flows",
        "nodes",
        "recordings",
        "requests",
        "routes",
        "terms",
    )
)  # settings of accounts and of the platform


class RpcAccess(Struct, frozen=True):
    """The engine's own URL, its token, and further tokens that it accepts while the token changes.

    `server_tls` is of its own port; `client_tls` verifies the other engines. `clock` is a time in
    seconds that all engines share.
    """

    url: str
    token: str
    further_tokens: tuple[str, ...] = ()
    server_tls: SSLContext | None = None
    client_tls: SSLContext | None = None
    clock: Callable[[], float] = time.time

    @property
    def tokens(self) -> tuple[str, ...]:
        """All accepted tokens."""
        return (self.token, *self.further_tokens)


def authentication(access: RpcAccess) -> Middleware:
    """Return the middleware that answers all others with 401."""
    bearers = [f"Bearer {token}".encode() for token in access.tokens]
    verifier = SignatureVerifier(access.tokens, access.clock)

    async def refusal(request: web.Request) -> str:
        header = request.headers.get("Authorization", "")
        signature = parse_signature(header)
        if signature is None:
            given = header.encode(errors="surrogateescape")
            matches = [hmac.compare_digest(given, each) for each in bearers]
            return "" if any(matches) else "wrong or no bearer token"
        line = RequestLine(access.url, request.method, request.raw_path)
        if refused := verifier.verify(line, signature):
            return refused
        # The body is read only now: the sender is known.
        is_signed = digest_of(await request.read()) == signature.body_digest
        return "" if is_signed else "the body is not the signed one"

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if detail := await refusal(request):
            log.warning("request denied", address=request.remote, status=401, route="rpc")
            return problem_response(Problem("User not authenticated", 401, "unauthorized", detail))
        if request.method != "GET" and request.path.startswith(AUDITED_PATHS):
            log.info("rpc write", method=request.method, path=request.path, address=request.remote)
        return await handler(request)

    return check
