"""What is sent for a token, and what comes back."""

from typing import Annotated

from msgspec import Meta, Struct

from wire.fields import Name

Secret = Annotated[str, Meta(min_length=1, max_length=256)]


class TokenRequest(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Credentials; with an agent, the token is that agent's."""

    api_key: Secret
    api_secret: Secret
    agent_id: Name | None = None


SCHEME = "Bearer"  # it may stand before the token, and need not


class TokenGiven(Struct, frozen=True, rename="camel"):
    """A token, and for how many seconds it is good."""

    access_token: str
    expires_in: int
    token_type: str = SCHEME
