"""`/auth`: exchanges API credentials for an access token, and says who the caller is."""

from typing import Annotated

from fastapi import Path, Request

from api.auth.dependencies import AuthenticatedUser, client_address, count_request
from api.auth.schemas import Caller, TokenRequest, TokenResponse
from api.auth.service import Authenticator
from api.auth.store import parse_key_id
from api.http.openapi_operation import ANY_SCOPE
from api.http.routes import Body, Routes
from api.http.services import service

routes = Routes("Authentication")


@routes.post(
    "/auth/get-access-token/{accountId}",
    id="tokens.create",
    errors=(401, 429),
    example={"apiKey": "swk_…", "apiSecret": "sws_…"},
)
async def get_access_token(
    account_id: Annotated[str, Path(alias="accountId")],
    request: Request,
    body: Body[TokenRequest],
    authenticator: Annotated[Authenticator, service("authenticator")],
) -> TokenResponse:
    """Get an access token."""
    token, expires_in = await authenticator.issue_token(
        account_id, body.api_key, body.api_secret, body.agent_id, client_address(request)
    )
    await count_request(request, account_id)
    state = request.state  # for logs and audit
    state.account_id, state.key_id = account_id, parse_key_id(body.api_key)
    state.agent_id = body.agent_id
    return TokenResponse(token, expires_in)


@routes.get("/auth/me", id="caller.get", scope=ANY_SCOPE)
async def get_caller(user: AuthenticatedUser) -> Caller:
    """Show whose key or token this is, and its scopes; no scope is needed."""
    return Caller(user.account_id, user.key_id, user.agent_id, tuple(sorted(user.scopes)))
