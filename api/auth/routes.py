"""`POST /auth/get-access-token/{accountId}`, and the dependency that all other slices use."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.openapi.models import APIKey, APIKeyIn
from fastapi.security.base import SecurityBase
from msgspec import Meta, Struct

from api.auth.service import NOT_AUTHENTICATED, Authenticator, Principal
from api.http.errors import Unauthenticated
from api.http.msgspec_adapter import answer, described, reading
from wire.base import Name

Secret = Annotated[str, Meta(min_length=1, max_length=256)]


class TokenRequest(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Credentials; with an agent, the token is that agent's."""

    api_key: Secret
    api_secret: Secret
    agent_id: Name | None = None


SCHEME = "Bearer"  # it may stand before the token, and need not


class TokenResponse(Struct, frozen=True, rename="camel"):
    """A token, and for how many seconds it is good."""

    access_token: str
    expires_in: int
    token_type: str = SCHEME


router = APIRouter(tags=["Authentication"])


async def doorkeeper(request: Request) -> Authenticator:
    """Give the doorkeeper of this process."""
    found: Authenticator = request.app.state.parts.doorkeeper
    return found


class AuthorizationHeader(SecurityBase):
    """Tells who asks, and the document how: as one dependency, for each costs every request."""

    scheme_name = "APIKeyHeader"
    model = APIKey.model_validate(
        {
            "in": APIKeyIn.header,
            "name": "Authorization",
            "description": "An access token, or an API key, without a prefix.",
        }
    )

    async def __call__(self, request: Request) -> Principal:
        """Tell who asks; 401 for nobody."""
        header = request.headers.get("Authorization")
        if not header:
            raise Unauthenticated(NOT_AUTHENTICATED)
        principal = await (await doorkeeper(request)).principal(header, _address(request))
        request.state.account_id = principal.account_id  # for the log
        return principal


authenticate = AuthorizationHeader()
AuthenticatedUser = Annotated[Principal, Depends(authenticate)]


@router.post(
    "/auth/get-access-token/{accountId}",
    **described(
        "Get an access token",
        asked=TokenRequest,
        answered=TokenResponse,
        statuses=(401, 429),
        example={"apiKey": "swk_…", "apiSecret": "sws_…"},
    ),
)
async def get_access_token(
    account_id: Annotated[str, Path(alias="accountId")],
    request: Request,
    asked: Annotated[TokenRequest, Depends(reading(TokenRequest))],
    keeper: Annotated[Authenticator, Depends(doorkeeper)],
) -> Response:
    """Give a token for an account's credentials."""
    token, expires_in = await keeper.token(
        account_id, asked.api_key, asked.api_secret, asked.agent_id, _address(request)
    )
    return answer(TokenResponse(token, expires_in))


def _address(request: Request) -> str:
    return request.client.host if request.client else ""
