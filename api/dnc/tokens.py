"""Tokens that change an account's do-not-call list and open nothing else.

They are 256 random bits that nobody chose, so a plain hash can't be guessed back: what stands in
an address is checked at every request, by people's mail programs, too.
"""

import hashlib
import secrets

from msgspec import Struct
from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError

from api.accounts.store import accounts
from api.common.clock import Clock
from api.common.errors import NotFound
from api.db.database import Database
from api.dnc.tables import tokens


class DncToken(Struct, frozen=True):
    """What is shown of a token."""

    id: str
    created_ms: int


class DncTokenStore:
    """What is kept of tokens: their hashes."""

    def __init__(self, database: Database, now_ms: Clock) -> None:
        self._database = database
        self._now_ms = now_ms

    async def add(self, account_id: str) -> str:
        """Draw a token for an account; it is known to nobody but who is given it now."""
        drawn_id = secrets.token_hex(6)
        token = f"swd_{drawn_id}_{secrets.token_urlsafe(32)}"
        row = {
            "id": drawn_id,
            "account_id": account_id,
            "token_hash": _hashed(token),
            "created_ms": self._now_ms(),
        }
        try:
            async with self._database.writing() as connection:
                await connection.execute(insert(tokens).values(row))
        except IntegrityError:
            raise NotFound(f"no account {account_id}") from None
        return token

    async def account_of(self, token: str) -> str | None:
        """Tell whose a token is; None if nobody's, or of an account that may do nothing."""
        query = (
            select(tokens.c.account_id)
            .join(accounts)
            .where(tokens.c.token_hash == _hashed(token), accounts.c.is_active)
        )
        async with self._database.reading() as connection:
            found: str | None = (await connection.execute(query)).scalar_one_or_none()
        return found

    async def all(self, account_id: str) -> list[DncToken]:
        """List an account's tokens."""
        query = select(tokens.c.id, tokens.c.created_ms).where(tokens.c.account_id == account_id)
        async with self._database.reading() as connection:
            rows = await connection.execute(query.order_by(tokens.c.created_ms))
            return [DncToken(*row) for row in rows]

    async def revoke(self, account_id: str, token_id: str) -> None:
        """Let a token change nothing any more."""
        removal = delete(tokens).where(tokens.c.id == token_id, tokens.c.account_id == account_id)
        async with self._database.writing() as connection:
            if not (await connection.execute(removal)).rowcount:
                raise NotFound(f"no do-not-call token {token_id} of {account_id}")


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
