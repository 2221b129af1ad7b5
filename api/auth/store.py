"""API keys in the database; their secrets only as hashes."""

import asyncio
import re
import secrets
from typing import Any

from msgspec import Struct
from sqlalchemy import BigInteger, Column, ForeignKey, String, Table, insert, select, update
from sqlalchemy.exc import IntegrityError

from api.accounts.store import accounts
from api.auth.hashing import COST, hash_secret
from api.common.clock import Clock
from api.common.errors import Conflict, NotFound
from api.db.database import Database, metadata

keys = Table(
    "api_keys",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False, index=True),
    Column("agent_id", String(64)),
    Column("key_hash", String(256), nullable=False),
    Column("secret_hash", String(256), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger),
)
_KEY = re.compile(r"swk_(?P<id>[0-9a-f]{12})_[A-Za-z0-9_\-]{32,64}")


class Credentials(Struct, frozen=True):
    """A key and its secret, in plain: known to nobody but who is shown them once."""

    api_key: str
    api_secret: str


class ApiKey(Struct, frozen=True):
    """What is kept of a key; one that has expired or been revoked opens nothing."""

    id: str
    account_id: str
    agent_id: str | None
    key_hash: str
    secret_hash: str
    created_ms: int
    expires_ms: int | None
    is_account_active: bool


def generate_credentials() -> Credentials:
    """Draw credentials at random: 256 bits each."""
    key = f"swk_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"
    return Credentials(key, f"sws_{secrets.token_urlsafe(32)}")


def parse_key_id(api_key: str) -> str | None:
    """Read a key's id off the key; None if it is none."""
    found = _KEY.fullmatch(api_key)
    return found["id"] if found else None


class KeyStore:
    """What is kept of keys."""

    def __init__(self, database: Database, now_ms: Clock, hash_cost: int = COST) -> None:
        self._database = database
        self._now_ms = now_ms
        self._hash_cost = hash_cost

    async def add(self, account_id: str, given: Credentials, agent_id: str | None = None) -> str:
        """Keep credentials for an account, or for one agent of it; gives the key's id."""
        known = parse_key_id(given.api_key)
        if known is None:
            raise Conflict("an API key looks like swk_, 12 hex digits, _ and 43 letters")
        row = {
            "id": known,
            "account_id": account_id,
            "agent_id": agent_id,
            "key_hash": await asyncio.to_thread(hash_secret, given.api_key, self._hash_cost),
            "secret_hash": await asyncio.to_thread(hash_secret, given.api_secret, self._hash_cost),
            "created_ms": self._now_ms(),
        }
        try:
            async with self._database.writing() as connection:
                await connection.execute(insert(keys).values(row))
        except IntegrityError:
            raise Conflict(f"no account {account_id}, or key {known} is there already") from None
        return known

    async def get(self, of: str) -> ApiKey | None:
        """Read a key by its id."""
        async with self._database.reading() as connection:
            row = (await connection.execute(_shown().where(keys.c.id == of))).mappings().first()
        return ApiKey(**row) if row else None

    async def all(self, account_id: str) -> list[ApiKey]:
        """List an account's keys."""
        query = _shown().where(keys.c.account_id == account_id).order_by(keys.c.created_ms)
        async with self._database.reading() as connection:
            return [ApiKey(**row) for row in (await connection.execute(query)).mappings()]

    async def expire(self, account_id: str, of: str, at_ms: int) -> None:
        """Let a key, and every token that it gave, end at a time: now, to revoke it."""
        change = update(keys).where(keys.c.id == of, keys.c.account_id == account_id)
        async with self._database.writing() as connection:
            if not (await connection.execute(change.values(expires_ms=at_ms))).rowcount:
                raise NotFound(f"no key {of} of {account_id}")


def _shown() -> Any:
    return select(keys, accounts.c.is_active.label("is_account_active")).join(accounts)
