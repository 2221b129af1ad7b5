"""`/auth` and `/srmain/keys`: access tokens for API credentials, and the keys of an account."""

from typing import Annotated

from fastapi import Path, Request

from api.auth import schemas
from api.auth.dependencies import AuthenticatedUser, client_address, count_request
from api.auth.key_service import KeyService
from api.auth.key_store import parse_key_id
from api.auth.service import Authenticator
from api.http.openapi_operation import ANY_SCOPE
from api.http.routes import Body, Routes
from api.http.services import service

routes = Routes("Authentication")
key_routes = Routes("Keys")
BASE = "/srmain/keys"
Keys = Annotated[KeyService, service("key_service")]
KeyId = Annotated[str, Path(alias="id", max_length=64)]


@routes.post(
    "/auth/get-access-token/{accountId}",
    id="tokens.create",
    errors=(401, 429),
    example={"apiKey": "swk_…", "apiSecret": "sws_…"},
)
async def get_access_token(
    account_id: Annotated[str, Path(alias="accountId")],
    request: Request,
    body: Body[schemas.TokenRequest],
    authenticator: Annotated[Authenticator, service("authenticator")],
) -> schemas.TokenResponse:
    """Get an access token."""
    token, expires_in = await authenticator.issue_token(
        account_id, body.api_key, body.api_secret, body.agent_id, client_address(request)
    )
    await count_request(request, account_id)
    state = request.state  # for logs and audit
    state.account_id, state.key_id = account_id, parse_key_id(body.api_key)
    state.agent_id = body.agent_id
    return schemas.TokenResponse(token, expires_in)


@routes.get("/auth/me", id="caller.get", scope=ANY_SCOPE)
async def get_caller(user: AuthenticatedUser) -> schemas.Caller:
    """Show whose key or token this is, and its scopes; no scope is needed."""
    return schemas.Caller(user.account_id, user.key_id, user.agent_id, tuple(sorted(user.scopes)))


@key_routes.post(
    BASE,
    id="keys.create",
    scope="keys",
    status=201,
    errors=(409,),
    example={"scopes": ["read-only"], "networks": ["192.0.2.0/24"], "days": 90},
    idempotent=True,
    has_secret=True,
)
async def create_key(
    user: AuthenticatedUser, keys: Keys, body: Body[schemas.NewKey]
) -> schemas.CreatedKey:
    """Create a key; its secret is shown only in this response.

    With an `Idempotency-Key` the key of the caller gets the same response again.

    It may not have scopes that the caller lacks, nor networks beyond those of the caller's key, nor
    outlive that key (403: `scope`, `networks`, `expiry`).
    """
    return await keys.create(user, body)


@key_routes.get(BASE, id="keys.list", scope="keys")
async def list_keys(user: AuthenticatedUser, keys: Keys) -> schemas.KeyPage:
    """List the keys, oldest first, also those that have expired or were revoked."""
    return await keys.list(user)


@key_routes.post(
    f"{BASE}/{{id}}/rotate",
    id="keys.rotate",
    scope="keys",
    status=201,
    errors=(404, 409),
    example={"overlapS": 3_600},
    idempotent=True,
    has_secret=True,
)
async def rotate_key(
    key_id: KeyId, user: AuthenticatedUser, keys: Keys, body: Body[schemas.RotateKey]
) -> schemas.CreatedKey:
    """Create a replacement of a key, with its rights, and let the old key expire."""
    return await keys.rotate(user, key_id, body)


@key_routes.delete(f"{BASE}/{{id}}", id="keys.revoke", scope="keys", errors=(404,))
async def revoke_key(key_id: KeyId, user: AuthenticatedUser, keys: Keys) -> schemas.KeyView:
    """Revoke a key, and all tokens that were issued for it, within two seconds."""
    return await keys.revoke(user, key_id)
