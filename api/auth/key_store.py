"""API keys in the database; keys and secrets are stored as hashes only."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from typing import Annotated, Any

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.engine import RowMapping
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from api.accounts.store import accounts
from api.auth.principal import AGENT, INTEGRATOR
from api.common.clock import Clock
from api.common.errors import Conflict, NotFound
from api.db.database import Database, metadata
from base.limit import Limit

keys = sa.Table(
    "api_keys",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id"), nullable=False, index=True),
    sa.Column("agent_id", sa.String(64)),
    sa.Column("key_hash", sa.String(256), nullable=False),
    sa.Column("secret_hash", sa.String(256), nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("expires_ms", sa.BigInteger),
    sa.Column("scopes", sa.JSON, nullable=False),  # and bundles
    sa.Column("networks", sa.JSON, nullable=False),  # that may use it; empty: any
    sa.Column("last_used_ms", sa.BigInteger),
)
USE_INTERVAL_MS = 60_000  # between two updates of the last use
_KEY = re.compile(r"swk_(?P<id>[0-9a-f]{12})_[A-Za-z0-9_\-]{32,64}")


class Credentials(Struct, frozen=True):
    """A key and its secret in plain text; they are shown once and never stored."""

    api_key: str
    api_secret: str


class ApiKey(Struct, frozen=True):
    """A stored key; a revoked key is one that has expired."""

    id: str
    account_id: str
    agent_id: str | None
    key_hash: str
    secret_hash: str
    created_ms: int
    expires_ms: int | None
    scopes: tuple[str, ...]
    networks: tuple[str, ...]
    last_used_ms: int | None
    is_account_active: bool

    def has_ended(self, now_ms: int) -> bool:
        """Return whether it has expired, or its account is suspended."""
        return not self.is_account_active or (
            self.expires_ms is not None and self.expires_ms <= now_ms
        )


def generate_credentials() -> Credentials:
    """Return random credentials, 256 bits each."""
    key = f"swk_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"
    return Credentials(key, f"sws_{secrets.token_urlsafe(32)}")


def parse_key_id(api_key: str) -> str | None:
    """Return the id in an API key, or None if it is malformed."""
    found = _KEY.fullmatch(api_key)
    return found["id"] if found else None


ENDED_KEPT_MS = 30 * 86_400_000


MAX_ENDED_FACTOR: Annotated[
    int,
    Limit(
        "account",
        "409 `too_many_keys`",
        "Keys that ended within 30 days, in multiples of `SWITCHROOM_MAX_KEYS`.",
    ),
] = 10


class KeyTerms(Struct, frozen=True):
    """What a new key is for: an agent, scopes or bundles, networks that may use it, an expiry."""

    agent_id: str | None = None
    scopes: Sequence[str] = ()  # none: those of an agent, or of an integration
    networks: Sequence[str] = ()
    expires_ms: int | None = None

    @property
    def granted(self) -> list[str]:
        """Return the scopes and bundles."""
        return list(self.scopes) or [AGENT if self.agent_id else INTEGRATOR]


USUAL_TERMS = KeyTerms()


class KeyStore:
    def __init__(self, database: Database, now_ms: Clock) -> None:
        self._database = database
        self._now_ms = now_ms

    async def add(
        self,
        account_id: str,
        credentials: Credentials,
        terms: KeyTerms = USUAL_TERMS,
        max_keys: int | None = None,
    ) -> str:
        """Store credentials of an account, or of one of its agents; return the key's id.

        Raises Conflict if the account has `max_keys` that have not expired.
        """
        key_id = parse_key_id(credentials.api_key)
        if key_id is None:
            raise Conflict("an API key looks like swk_, 12 hex digits, _ and 43 letters")
        row = {
            "id": key_id,
            "account_id": account_id,
            "agent_id": terms.agent_id,
            "key_hash": hash_secret(credentials.api_key),
            "secret_hash": hash_secret(credentials.api_secret),
            "created_ms": self._now_ms(),
            "expires_ms": terms.expires_ms,
            "scopes": terms.granted,
            "networks": list(terms.networks),
        }
        try:
            async with self._database.writing() as connection:
                if max_keys is not None:
                    await self._check_count(connection, account_id, max_keys)
                await connection.execute(sa.insert(keys).values(row))
        except IntegrityError:
            raise Conflict(f"no account {account_id}, or key {key_id} is there already") from None
        return key_id

    async def _check_count(
        self, connection: AsyncConnection, account_id: str, max_keys: int
    ) -> None:
        """Count the keys; no other process adds one until the transaction ends.

        Those that ended long ago are deleted.
        """
        own = sa.select(accounts.c.id).where(accounts.c.id == account_id).with_for_update()
        await connection.execute(own)
        now_ms, its = self._now_ms(), keys.c.account_id == account_id
        is_old = keys.c.expires_ms < now_ms - ENDED_KEPT_MS
        await connection.execute(sa.delete(keys).where(its, is_old))
        is_live = keys.c.expires_ms.is_(None) | (keys.c.expires_ms > now_ms)
        query = sa.select(sa.func.count(sa.case((is_live, 1))), sa.func.count()).where(its)
        live, total = (await connection.execute(query)).one()
        setting = "(SWITCHROOM_MAX_KEYS)"
        if live >= max_keys:
            text = f"the account has {max_keys:,} keys {setting}: revoke one first"
            raise Conflict(text, "too_many_keys")
        if total - live >= max_keys * MAX_ENDED_FACTOR:
            text = f"{total - live:,} keys of the account have ended within 30 days {setting}"
            raise Conflict(text, "too_many_keys")

    async def get(self, key_id: str) -> ApiKey | None:
        rows = await self._database.mappings(_query().where(keys.c.id == key_id))
        return _to_key(rows[0]) if rows else None

    async def all(self, account_id: str) -> list[ApiKey]:
        query = _query().where(keys.c.account_id == account_id)
        rows = await self._database.mappings(query.order_by(keys.c.created_ms, keys.c.id))
        return [_to_key(row) for row in rows]

    async def ended(self, since_ms: int) -> list[tuple[str, str]]:
        """Return account and id of each key that has expired since a time, or is suspended."""
        columns, now_ms = keys.c, self._now_ms()
        is_expired = columns.expires_ms.between(since_ms, now_ms)
        query = (
            sa.select(columns.account_id, columns.id)
            .join(accounts)
            .where(is_expired | ~accounts.c.is_active)
        )
        return [(row.account_id, row.id) for row in await self._database.rows(query)]

    async def record_use(self, key_id: str) -> None:
        """Store that a key is used now."""
        now_ms = self._now_ms()
        await self._database.execute(
            sa.update(keys).where(keys.c.id == key_id).values(last_used_ms=now_ms)
        )

    async def rotate(  # noqa: PLR0913, PLR0917 - what a replacement may differ in
        self,
        account_id: str,
        key_id: str,
        credentials: Credentials,
        overlap_ms: int,
        expires_ms: int | None = None,
        max_keys: int | None = None,
    ) -> str:
        """Store credentials in place of a key, which expires after an overlap; return their id.

        They have its terms, and its expiry unless another is given. Raises NotFound, and Conflict
        if the key has expired.
        """
        old = await self.get(key_id)
        if old is None or old.account_id != account_id:
            raise NotFound(f"no key {key_id} of {account_id}")
        if old.expires_ms is not None and old.expires_ms <= self._now_ms():
            raise Conflict(f"key {key_id} has expired or was revoked: create a new one")
        terms = KeyTerms(old.agent_id, old.scopes, old.networks, expires_ms or old.expires_ms)
        new_id = await self.add(account_id, credentials, terms, max_keys)
        await self.expire(account_id, key_id, self._now_ms() + overlap_ms)
        return new_id

    async def expire(self, account_id: str, key_id: str, at_ms: int) -> None:
        """Let a key and its tokens expire at a time, or earlier if it does; raises NotFound."""
        is_later = keys.c.expires_ms.is_(None) | (keys.c.expires_ms > at_ms)
        change = sa.update(keys).where(keys.c.id == key_id, keys.c.account_id == account_id)
        sooner = sa.case((is_later, at_ms), else_=keys.c.expires_ms)
        if not await self._database.execute(change.values(expires_ms=sooner)):
            raise NotFound(f"no key {key_id} of {account_id}")


def _to_key(row: RowMapping) -> ApiKey:
    lists = {name: tuple(row[name]) for name in ("scopes", "networks")}
    return ApiKey(**{**row, **lists})


def _query() -> Any:
    return sa.select(keys, accounts.c.is_active.label("is_account_active")).join(accounts)


def hash_secret(secret: str) -> str:
    """Hash a secret; one of 256 random bits cannot be guessed, so SHA-256 is enough."""
    return f"sha256${hashlib.sha256(secret.encode()).hexdigest()}"


def verify_secret(secret: str, stored: str) -> bool:
    """Return whether a secret matches a hash."""
    return hmac.compare_digest(hash_secret(secret), stored)
