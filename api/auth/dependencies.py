"""The dependency that authenticates a request, used by the routes of every slice."""

from typing import Annotated

from fastapi import Depends, Request
from fastapi.openapi.models import APIKey, APIKeyIn
from fastapi.security.base import SecurityBase

from api.auth.service import Authenticator, Principal
from api.auth.throttle import NOT_AUTHENTICATED
from api.common.errors import Unauthenticated


class AuthorizationHeader(SecurityBase):
    """Authenticates, and declares the security scheme: one dependency instead of two."""

    scheme_name = "APIKeyHeader"
    model = APIKey.model_validate(
        {
            "in": APIKeyIn.header,
            "name": "Authorization",
            "description": "An access token, or an API key, without a prefix.",
        }
    )

    async def __call__(self, request: Request) -> Principal:
        """Return the caller; raises Unauthenticated."""
        header = request.headers.get("Authorization")
        if not header:
            raise Unauthenticated(NOT_AUTHENTICATED)
        authenticator: Authenticator = request.app.state.services.authenticator
        principal = await authenticator.authenticate(header, client_address(request))
        request.state.account_id = principal.account_id  # for logs and idempotency
        return principal


def client_address(request: Request) -> str:
    return request.client.host if request.client else ""


authenticate = AuthorizationHeader()
AuthenticatedUser = Annotated[Principal, Depends(authenticate)]
