"""Requests and responses about access tokens and API keys."""

from typing import Annotated

from msgspec import Meta, Struct

from api.auth.key_store import ApiKey, Credentials
from api.common.timestamps import format_ms
from wire.base import Name

Secret = Annotated[str, Meta(min_length=1, max_length=256)]
TOKEN_TYPE = "Bearer"  # noqa: S105 - an optional prefix of the Authorization header
MAX_DAYS = 3_650
MAX_OVERLAP_S = 30 * 86_400
Days = Annotated[int, Meta(ge=1, le=MAX_DAYS)]
Texts = Annotated[tuple[Annotated[str, Meta(max_length=64)], ...], Meta(max_length=64)]


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


class NewKey(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A key to create: for an agent, with scopes or bundles, for networks, for some days.

    Without scopes it has those of an agent, or of an integration; without networks any may use it;
    without days it does not expire.
    """

    agent_id: Name | None = None
    scopes: Texts = ()
    networks: Texts = ()
    days: Days | None = None


class RotateKey(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """When the old key expires, and when the new one does: without days, when the old one would."""

    overlap_s: Annotated[int, Meta(ge=0, le=MAX_OVERLAP_S)] = 3_600
    days: Days | None = None


class KeyView(Struct, frozen=True, rename="camel"):
    """A key, without its secret; `lastUsedTime` is exact to a minute."""

    id: str
    agent_id: str | None
    scopes: tuple[str, ...]
    networks: tuple[str, ...]
    created_time: str
    expiry_time: str | None
    last_used_time: str | None
    is_expired: bool


class KeyPage(Struct, frozen=True):
    """All keys of an account, oldest first."""

    data: tuple[KeyView, ...]
    total: int


class CreatedKey(Struct, frozen=True, rename="camel"):
    """A new key and its secret, which is not shown again."""

    id: str
    api_key: str
    api_secret: str


def key_view(key: ApiKey, now_ms: int) -> KeyView:
    return KeyView(
        id=key.id,
        agent_id=key.agent_id,
        scopes=key.scopes,
        networks=key.networks,
        created_time=format_ms(key.created_ms),
        expiry_time=_time(key.expires_ms),
        last_used_time=_time(key.last_used_ms),
        is_expired=key.expires_ms is not None and key.expires_ms <= now_ms,
    )


def created_key(key_id: str, credentials: Credentials) -> CreatedKey:
    return CreatedKey(key_id, credentials.api_key, credentials.api_secret)


def _time(at_ms: int | None) -> str | None:
    return None if at_ms is None else format_ms(at_ms)
