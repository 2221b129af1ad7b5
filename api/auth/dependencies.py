"""The dependencies that authenticate a request and check its scope, used by every slice."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request
from fastapi.openapi.models import APIKey, APIKeyIn
from fastapi.security.base import SecurityBase
from msgspec.structs import replace

from api.auth.principal import OPERATIONS, Principal, Scope, is_scope
from api.auth.service import Authenticator
from api.auth.sessions import CSRF_HEADER, ConsoleSessions
from api.auth.throttle import NOT_AUTHENTICATED
from api.common.errors import Forbidden, TooManyRequests, Unauthenticated
from api.common.loop_shares import RequestCost
from api.common.token_buckets import rate_limit_headers
from api.db.database import work_of
from api.http.msgspec_adapter import note_call
from api.http.openapi_operation import ANY_SCOPE
from api.http.routes import ScopedSecurity

ACCOUNT_HEADER = "Switchroom-Account"


class AuthorizationHeader(ScopedSecurity):
    """Authenticates, and declares the security scheme: one dependency instead of two."""

    scheme_name = "APIKeyHeader"
    model = APIKey.model_validate(
        {
            "in": APIKeyIn.header,
            "name": "Authorization",
            "description": "An access token, or in a lab an API key, without a prefix.",
        }
    )

    async def __call__(self, request: Request) -> Principal:
        """Return the caller, and count the request; raises Unauthenticated or TooManyRequests."""
        principal = await identify(request)
        await count_request(request, principal.account_id)
        note_caller(request, principal)
        acting = await _acting(request, principal)
        note_caller(request, acting)
        return acting

    def requiring(
        self, scope: str, *, names_call: bool = False
    ) -> Callable[[Request], Awaitable[Principal]]:
        """Return the dependency that returns the caller if it has a scope; raises Forbidden."""
        if scope == ANY_SCOPE:
            return ScopeCheck(self, None, names_call=names_call)
        if not is_scope(scope):
            raise ValueError(f"no scope: {scope!r}")
        return ScopeCheck(self, scope, names_call=names_call)


class ScopeCheck(SecurityBase):
    """Authenticates and checks a scope: one dependency, because each costs time per request.

    Without a scope, every authenticated caller may use the route.
    """

    def __init__(
        self, authenticate: AuthorizationHeader, scope: Scope | None, *, names_call: bool
    ) -> None:
        self.scheme_name, self.model = authenticate.scheme_name, authenticate.model
        self._authenticate = authenticate
        self.scope = scope
        self._names_call = names_call

    async def __call__(self, request: Request) -> Principal:
        principal = await self._authenticate(request)
        if self.scope is None:
            return principal
        try:
            principal.require(self.scope)
        except Forbidden:
            if self._names_call:
                await note_call(request)
            raise
        return principal


async def identify(request: Request) -> Principal:
    """Return the caller, without counting the request; raises Unauthenticated."""
    authenticator: Authenticator = request.state.services.authenticator
    if header := request.headers.get("Authorization"):
        return await authenticator.authenticate(header, client_address(request))
    sessions: ConsoleSessions = request.state.services.sessions
    csrf_token = request.headers.get(CSRF_HEADER)
    session = sessions.read(request) if csrf_token else None
    if session is None or not session.accepts(csrf_token or ""):
        raise Unauthenticated(NOT_AUTHENTICATED)
    return await authenticator.authenticate_session(
        session.key_id, session.agent_id, client_address(request)
    )


async def _acting(request: Request, caller: Principal) -> Principal:
    """Return the caller as the account that a request names, if the caller is an operator.

    Scopes stay those of the key. Raises Forbidden, and NotFound for an unknown account.
    """
    named = request.headers.get(ACCOUNT_HEADER, caller.account_id)
    if named == caller.account_id:
        return caller
    caller.require(OPERATIONS)
    account = await request.state.services.accounts.get(named)
    return replace(caller, account_id=account.id)


async def count_request(request: Request, account_id: str) -> None:
    """Count a request of an account that has proved who it is, and wait for the account's share.

    Raises TooManyRequests.
    """
    state = request.state
    state.caller = account_id  # also of one that is refused below
    work_of.set(account_id)
    cost: RequestCost = state.cost
    cost.charge_to(state.services.loop_shares.of_account(account_id))
    rates = state.services.request_rates
    is_taken = rates.take(account_id)
    state.rate_limit = rate_limit_headers(rates.rate, rates.left(account_id))
    if not is_taken:
        raise TooManyRequests(
            "this account sends too many requests (SWITCHROOM_API_REQUESTS_PER_S)",
            "request_rate",
            retry_after_s=1,
        )
    state.services.requests_in_flight.begin(account_id)
    state.in_flight_of = account_id  # ended by RequestMiddleware
    await cost.wait_for_turn()


def note_caller(request: Request, caller: Principal) -> None:
    """Note the caller of a request for logs, audit and idempotency."""
    state = request.state
    state.account_id, state.key_id = caller.account_id, caller.key_id
    state.agent_id = caller.agent_id


def client_address(request: Request) -> str:
    return request.client.host if request.client else ""


authenticate = AuthorizationHeader()
AuthenticatedUser = Annotated[Principal, Depends(authenticate)]
