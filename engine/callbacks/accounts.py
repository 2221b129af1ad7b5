"""Accounts' callbacks: where `auto-set` leads, what signs, and how much may go at once."""

import base64
from collections.abc import Callable
from typing import Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine.webhooks.sign import Signer
from wire.callbacks import PutCallback
from wire.targets import AUTO_SET, Place, parse_place

FRESH_MS = 1_000
MOST_KNOWN = 10_000
SECRET_BYTES = 32
PREVIOUS_MS = 86_400_000  # a rotated secret signs for another day


class Account(Struct, frozen=True, omit_defaults=True):
    """What is stored of an account."""

    secret: str
    made_ms: int
    target: str | None = None
    concurrency: int = 32
    per_s: float | None = None
    previous: str = ""
    previous_until_ms: int = 0
    is_stopped: bool = False  # its target has answered 410

    def secrets(self, now_ms: int) -> tuple[str, ...]:
        """Give the secrets that sign now."""
        is_both = self.previous and now_ms < self.previous_until_ms
        return (self.secret, self.previous) if is_both else (self.secret,)


class Documents(Protocol):
    """Where accounts' configurations are stored."""

    async def put_account(self, account: str, body: bytes | None) -> None:
        """Store an account's configuration, or take it out."""

    async def account(self, account: str) -> bytes | None:
        """Read an account's configuration."""


class Accounts:
    """Remembers what it reads for a moment: a busy account costs one read a second."""

    def __init__(
        self,
        documents: Documents,
        now_ms: Callable[[], int],
        random_bytes: Callable[[int], bytes],
        fallback: Signer,
    ) -> None:
        self._documents = documents
        self._now_ms = now_ms
        self._random_bytes = random_bytes
        self._fallback = fallback  # signs for accounts that have no secret of their own
        self._known: dict[str, tuple[int, Account | None]] = {}

    async def of(self, account: str) -> Account | None:
        """Give an account's configuration; raises StoreDown."""
        at_ms, known = self._known.get(account, (0, None))
        if at_ms + FRESH_MS > self._now_ms():
            return known
        return await self._read(account)

    async def auto_set(self, account: str) -> str | None:
        """Name the target of an account's calls that name none; raises StoreDown."""
        found = await self.of(account)
        return AUTO_SET if found and found.target and not found.is_stopped else None

    async def place(self, account: str, target: str) -> Place | None:
        """Find where a target leads; None: nowhere now. Raises StoreDown."""
        if target != AUTO_SET:
            return parse_place(target, "target")
        found = await self.of(account)
        if found is None or found.target is None or found.is_stopped:
            return None
        return parse_place(found.target, "target")

    def signer(self, found: Account | None) -> Signer:
        """Give what signs for an account."""
        return Signer(*found.secrets(self._now_ms())) if found else self._fallback

    async def put(self, account: str, asked: PutCallback) -> tuple[Account, bool]:
        """Store what was asked; tells whether its secret is new."""
        before = await self._read(account)
        after = before or Account(self._new_secret(), self._now_ms())
        after = replace(
            after,
            target=asked.target,
            concurrency=asked.concurrency,
            per_s=asked.per_s,
            is_stopped=False,
        )
        await self._store(account, after)
        return after, before is None

    async def rotate(self, account: str) -> Account | None:
        """Make a new secret; the one before signs along for a day. None: there is no account."""
        before = await self._read(account)
        if before is None:
            return None
        now_ms = self._now_ms()
        after = replace(
            before,
            secret=self._new_secret(),
            made_ms=now_ms,
            previous=before.secret,
            previous_until_ms=now_ms + PREVIOUS_MS,
        )
        await self._store(account, after)
        return after

    async def remove(self, account: str) -> bool:
        """Forget an account's configuration; tells whether there was one."""
        before = await self._read(account)
        await self._store(account, None)
        return before is not None

    async def stop(self, account: str) -> None:
        """Send an account's target nothing more, until it is put again."""
        before = await self._read(account)
        if before is not None:
            await self._store(account, replace(before, is_stopped=True))

    async def _read(self, account: str) -> Account | None:
        body = await self._documents.account(account)
        found = msgspec.json.decode(body, type=Account) if body else None
        self._remember(account, found)
        return found

    async def _store(self, account: str, after: Account | None) -> None:
        body = None if after is None else msgspec.json.encode(after)
        await self._documents.put_account(account, body)
        self._remember(account, after)

    def _remember(self, account: str, found: Account | None) -> None:
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        self._known[account] = self._now_ms(), found

    def _new_secret(self) -> str:
        return "whsec_" + base64.b64encode(self._random_bytes(SECRET_BYTES)).decode()
