"""Accounts' callbacks: where `auto-set` leads, what signs, and how much may go at once."""

import base64
from collections.abc import Callable
from typing import Protocol, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine.webhooks.signatures import Signer
from wire.callback_targets import AUTO_SET, DeliveryTarget, parse_delivery_target
from wire.callbacks import PutCallback

CACHE_TTL_MS = 1_000
MAX_CACHED = 10_000
SECRET_BYTES = 32
ROTATION_OVERLAP_MS = 86_400_000  # a rotated secret signs for another day


class CallbackSettings(Struct, frozen=True, omit_defaults=True):
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


UpdatedSettings = TypeVar("UpdatedSettings", bound=CallbackSettings | None)


class CallbackSettingsStore(Protocol):
    """Where accounts' configurations are stored."""

    async def swap_account(self, account: str, before: bytes | None, after: bytes | None) -> bool:
        """Store a configuration in place of the one that was read; False when that is not there."""

    async def account(self, account: str) -> bytes | None:
        """Read an account's configuration."""


class CallbackTargets:
    """Remembers what it reads for a moment: a busy account costs one read a second."""

    def __init__(
        self,
        documents: CallbackSettingsStore,
        now_ms: Callable[[], int],
        random_bytes: Callable[[int], bytes],
        fallback: Signer,
    ) -> None:
        self._store = documents
        self._now_ms = now_ms
        self._random_bytes = random_bytes
        self._fallback = fallback  # signs for accounts that have no secret of their own
        self._cache: dict[str, tuple[int, CallbackSettings | None]] = {}

    async def settings(self, account: str) -> CallbackSettings | None:
        """Give an account's configuration; raises StoreDown."""
        at_ms, known = self._cache.get(account, (0, None))
        if at_ms + CACHE_TTL_MS > self._now_ms():
            return known
        return await self._read(account)

    async def auto_set(self, account: str) -> str | None:
        """Name the target of an account's calls that name none; raises StoreDown."""
        found = await self.settings(account)
        return AUTO_SET if found and found.target and not found.is_stopped else None

    async def resolve(self, account: str, target: str) -> DeliveryTarget | None:
        """Find where a target leads; None: nowhere now. Raises StoreDown."""
        if target != AUTO_SET:
            return parse_delivery_target(target, "target")
        found = await self.settings(account)
        if found is None or found.target is None or found.is_stopped:
            return None
        return parse_delivery_target(found.target, "target")

    def signer_of(self, found: CallbackSettings | None) -> Signer:
        """Give what signs for an account."""
        return Signer(*found.secrets(self._now_ms())) if found else self._fallback

    async def put(self, account: str, asked: PutCallback) -> tuple[CallbackSettings, bool]:
        """Store what was asked; tells whether its secret is new."""
        made = CallbackSettings(self._new_secret(), self._now_ms())

        def put(before: CallbackSettings | None) -> CallbackSettings:
            return replace(
                before or made,
                target=asked.target,
                concurrency=asked.concurrency,
                per_s=asked.per_s,
                is_stopped=False,
            )

        before, after = await self._update(account, put)
        return after, before is None

    async def rotate_secret(self, account: str) -> CallbackSettings | None:
        """Make a new secret; the one before signs along for a day. None: there is no account."""
        secret, now_ms = self._new_secret(), self._now_ms()

        def rotated(before: CallbackSettings | None) -> CallbackSettings | None:
            return before and replace(
                before,
                secret=secret,
                made_ms=now_ms,
                previous=before.secret,
                previous_until_ms=now_ms + ROTATION_OVERLAP_MS,
            )

        return (await self._update(account, rotated))[1]

    async def remove(self, account: str) -> bool:
        """Forget an account's configuration; tells whether there was one."""
        before, _ = await self._update(account, lambda _before: None)
        return before is not None

    async def stop(self, account: str, place: DeliveryTarget) -> None:
        """Send an account's target nothing more, until it is put again; another goes on."""

        def stopped(before: CallbackSettings | None) -> CallbackSettings | None:
            is_it = (
                before and before.target and parse_delivery_target(before.target, "target") == place
            )
            return replace(before, is_stopped=True) if before and is_it else before

        await self._update(account, stopped)

    async def _update(
        self, account: str, change: Callable[[CallbackSettings | None], UpdatedSettings]
    ) -> tuple[CallbackSettings | None, UpdatedSettings]:
        """Change what is stored: of two at once, the second sees what the first has done."""
        while True:
            body = await self._store.account(account)
            before = _decode(body)
            after = change(before)
            encoded = None if after is None else msgspec.json.encode(after)
            if after is before or await self._store.swap_account(account, body, encoded):
                self._remember(account, after)
                return before, after

    async def _read(self, account: str) -> CallbackSettings | None:
        found = _decode(await self._store.account(account))
        self._remember(account, found)
        return found

    def _remember(self, account: str, found: CallbackSettings | None) -> None:
        if len(self._cache) > MAX_CACHED:
            self._cache.clear()
        self._cache[account] = self._now_ms(), found

    def _new_secret(self) -> str:
        return "whsec_" + base64.b64encode(self._random_bytes(SECRET_BYTES)).decode()


def _decode(body: bytes | None) -> CallbackSettings | None:
    return msgspec.json.decode(body, type=CallbackSettings) if body else None
