"""Callback settings of accounts: the target of `auto-set`, signing secrets and limits."""

import base64
from collections.abc import Callable
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine.common.ttl_cache import TtlCache
from engine.store.outbox import Outbox
from engine.webhooks.signatures import Signer
from wire.callbacks.account import PutCallback
from wire.callbacks.targets import AUTO_SET, DeliveryTarget, parse_delivery_target

SECRET_BYTES = 32
ROTATION_OVERLAP_MS = 86_400_000  # a rotated secret signs for another day


class CallbackSettings(Struct, frozen=True, omit_defaults=True):
    """The stored callback settings of an account."""

    secret: str
    made_ms: int
    target: str | None = None
    concurrency: int = 32
    per_s: float | None = None
    previous: str = ""
    previous_until_ms: int = 0
    is_stopped: bool = False  # its target has answered 410

    def secrets(self, now_ms: int) -> tuple[str, ...]:
        """Return the secrets that sign now."""
        is_overlapping = self.previous and now_ms < self.previous_until_ms
        return (self.secret, self.previous) if is_overlapping else (self.secret,)


UpdatedSettings = TypeVar("UpdatedSettings", bound=CallbackSettings | None)


class AccountSettings:
    """Reads and changes settings; caches them, so a busy account costs one read a second."""

    def __init__(
        self,
        store: Outbox,
        now_ms: Callable[[], int],
        random_bytes: Callable[[int], bytes],
        fallback: Signer,
    ) -> None:
        self._store = store
        self._now_ms = now_ms
        self._random_bytes = random_bytes
        self._fallback = fallback  # signs for accounts that have no secret of their own
        self._cache = TtlCache(self._read, now_ms)

    async def settings(self, account: str) -> CallbackSettings | None:
        """Return an account's settings; raises StoreDown."""
        return await self._cache.get(account)

    async def auto_set(self, account: str) -> str | None:
        """Return the default target of an account's calls, if any; raises StoreDown."""
        settings = await self.settings(account)
        return AUTO_SET if settings and settings.target and not settings.is_stopped else None

    async def resolve(self, account: str, target: str) -> DeliveryTarget | None:
        """Resolve a call's target; None: there is none now. Raises StoreDown."""
        if target != AUTO_SET:
            return parse_delivery_target(target, "target")
        settings = await self.settings(account)
        if settings is None or settings.target is None or settings.is_stopped:
            return None
        return parse_delivery_target(settings.target, "target")

    def signer_of(self, settings: CallbackSettings | None) -> Signer:
        return Signer(*settings.secrets(self._now_ms())) if settings else self._fallback

    async def put(self, account: str, request: PutCallback) -> tuple[CallbackSettings, bool]:
        """Store new settings; also returns whether the secret is new."""
        initial = CallbackSettings(self._new_secret(), self._now_ms())

        def put(before: CallbackSettings | None) -> CallbackSettings:
            return replace(
                before or initial,
                target=request.target,
                concurrency=request.concurrency,
                per_s=request.per_s,
                is_stopped=False,
            )

        before, after = await self._update(account, put)
        return after, before is None

    async def rotate_secret(self, account: str) -> CallbackSettings | None:
        """Create a new secret; the previous one signs for another day. None: unknown account."""
        secret, now_ms = self._new_secret(), self._now_ms()

        def rotate(before: CallbackSettings | None) -> CallbackSettings | None:
            return before and replace(
                before,
                secret=secret,
                made_ms=now_ms,
                previous=before.secret,
                previous_until_ms=now_ms + ROTATION_OVERLAP_MS,
            )

        return (await self._update(account, rotate))[1]

    async def remove(self, account: str) -> bool:
        """Delete an account's settings; returns whether there were any."""
        before, _ = await self._update(account, lambda _before: None)
        return before is not None

    async def stop(self, account: str, target: DeliveryTarget) -> None:
        """Stop callbacks to this target until settings are put again; another target goes on."""

        def stop(before: CallbackSettings | None) -> CallbackSettings | None:
            if before is None or before.target is None:
                return before
            is_same = parse_delivery_target(before.target, "target") == target
            return replace(before, is_stopped=True) if is_same else before

        await self._update(account, stop)

    async def _update(
        self, account: str, change: Callable[[CallbackSettings | None], UpdatedSettings]
    ) -> tuple[CallbackSettings | None, UpdatedSettings]:
        """Change stored settings; of two changes at once, the second sees the first's result."""
        while True:
            body = await self._store.account(account)
            before = _decode(body)
            after = change(before)
            encoded = None if after is None else msgspec.json.encode(after)
            if after is before or await self._store.swap_account(account, body, encoded):
                self._cache.put(account, after)
                return before, after

    async def _read(self, account: str) -> CallbackSettings | None:
        return _decode(await self._store.account(account))

    def _new_secret(self) -> str:
        return "whsec_" + base64.b64encode(self._random_bytes(SECRET_BYTES)).decode()


def _decode(body: bytes | None) -> CallbackSettings | None:
    return msgspec.json.decode(body, type=CallbackSettings) if body else None
