"""Tokens that authorize changes of an account's do-not-call list, and nothing else.

A token is 256 random bits, so a fast hash without salt is enough: it is verified at every request,
also when mail programs prefetch links.
"""

import hashlib
import secrets

from msgspec import Struct
from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError

from api.accounts.store import accounts
from api.common.errors import NotFound
from api.db.database import Store
from api.dnc.store import tokens


def parse_token_id(token: str) -> str:
    """Return the id in a token; an id is its own."""
    return token.removeprefix("swd_").partition("_")[0]


class DncToken(Struct, frozen=True):
    """A token without its secret."""

    id: str
    created_ms: int


class DncTokenStore(Store):
    """Stores the hashes of tokens."""

    async def add(self, account_id: str) -> str:
        """Create and return a token for an account; only its hash is stored."""
        token_id = secrets.token_hex(6)
        token = f"swd_{token_id}_{secrets.token_urlsafe(32)}"
        row = {
            "id": token_id,
            "account_id": account_id,
            "token_hash": _hash(token),
            "created_ms": self._now_ms(),
        }
        try:
            await self._database.execute(insert(tokens).values(row))
        except IntegrityError:
            raise NotFound(f"no account {account_id}") from None
        return token

    async def account_of(self, token: str) -> str | None:
        """Return the account of a token; None if it is unknown, or the account is disabled."""
        query = (
            select(tokens.c.account_id)
            .join(accounts)
            .where(tokens.c.token_hash == _hash(token), accounts.c.is_active)
        )
        account_id: str | None = await self._database.scalar(query)
        return account_id

    async def all(self, account_id: str) -> list[DncToken]:
        """Return an account's tokens, oldest first."""
        query = select(tokens.c.id, tokens.c.created_ms).where(tokens.c.account_id == account_id)
        rows = await self._database.rows(query.order_by(tokens.c.created_ms, tokens.c.id))
        return [DncToken(*row) for row in rows]

    async def revoke(self, account_id: str, token_id: str) -> None:
        """Delete a token; raises NotFound."""
        removal = delete(tokens).where(tokens.c.id == token_id, tokens.c.account_id == account_id)
        if not await self._database.execute(removal):
            raise NotFound(f"no do-not-call token {token_id} of {account_id}")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
