"""Request and response of the access-token route."""

from typing import Annotated

from msgspec import Meta, Struct

from wire.base import Name

Secret = Annotated[str, Meta(min_length=1, max_length=256)]
TOKEN_TYPE = "Bearer"  # noqa: S105 - an optional prefix of the Authorization header


class TokenRequest(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """API credentials; with an agent, the token acts for that agent."""

    api_key: Secret
    api_secret: Secret
    agent_id: Name | None = None


class Caller(Struct, frozen=True, rename="camel"):
    """The caller: its account, its key, the agent that it acts for, and what it may do."""

    account_id: str
    key_id: str
    agent_id: str | None
    scopes: tuple[str, ...]


class TokenResponse(Struct, frozen=True, rename="camel"):
    """An access token, and its lifetime in seconds."""

    access_token: str
    expires_in: int
    token_type: str = TOKEN_TYPE
