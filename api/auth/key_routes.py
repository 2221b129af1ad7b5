"""`/srmain/keys`: the API keys of an account."""

from typing import Annotated

from fastapi import Path

from api.auth.dependencies import AuthenticatedUser
from api.auth.key_schemas import CreatedKey, KeyPage, KeyView, NewKey, RotateKey
from api.auth.key_service import KeyService
from api.http.routes import Body, Routes
from api.http.services import service

routes = Routes("Keys")
BASE = "/srmain/keys"
Keys = Annotated[KeyService, service("key_service")]
KeyId = Annotated[str, Path(alias="id", max_length=64)]


@routes.post(
    BASE,
    id="keys.create",
    scope="keys",
    status=201,
    errors=(409,),
    example={"scopes": ["read-only"], "networks": ["192.0.2.0/24"], "days": 90},
    idempotent=True,
    has_secret=True,
)
async def create_key(user: AuthenticatedUser, keys: Keys, body: Body[NewKey]) -> CreatedKey:
    """Create a key; its secret is shown only in this response.

    With an `Idempotency-Key` the key of the caller gets the same response again.

    It may not have scopes that the caller lacks, nor networks beyond those of the caller's key, nor
    outlive that key (403: `scope`, `networks`, `expiry`).
    """
    return await keys.create(user, body)


@routes.get(BASE, id="keys.list", scope="keys")
async def list_keys(user: AuthenticatedUser, keys: Keys) -> KeyPage:
    """List the keys, oldest first, also those that have expired or were revoked."""
    return await keys.list(user)


@routes.post(
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
    key_id: KeyId, user: AuthenticatedUser, keys: Keys, body: Body[RotateKey]
) -> CreatedKey:
    """Create a replacement of a key, with its rights, and let the old key expire."""
    return await keys.rotate(user, key_id, body)


@routes.delete(f"{BASE}/{{id}}", id="keys.revoke", scope="keys", errors=(404,))
async def revoke_key(key_id: KeyId, user: AuthenticatedUser, keys: Keys) -> KeyView:
    """Revoke a key, and all tokens that were issued for it, within two seconds."""
    return await keys.revoke(user, key_id)
