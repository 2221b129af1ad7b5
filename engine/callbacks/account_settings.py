"""Callback settings of accounts: the target of `auto-set`, signing secrets and limits."""

from collections.abc import Callable
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from base.ttl_cache import TtlCache
from engine.callbacks.account_secrets import AccountSecrets
from engine.callbacks.settings_changes import SettingsChanges
from engine.store.callback_queue import CallbackQueue
from engine.store.errors import StoreDown
from engine.webhooks.errors import WebhookFailed
from engine.webhooks.signatures import Signer
from wire.callbacks.account import PutCallback
from wire.callbacks.settings import CallbackSettings
from wire.callbacks.targets import AUTO_SET, DeliveryTarget, parse_delivery_target
from wire.decoding.messages import decode_message

UpdatedSettings = TypeVar("UpdatedSettings", bound=CallbackSettings | None)


class AccountSettings:
    """Reads and changes settings; caches them, so a busy account costs one read a second."""

    def __init__(
        self,
        store: CallbackQueue,
        now_ms: Callable[[], int],
        secrets: AccountSecrets,
    ) -> None:
        self._store = store
        self._now_ms = now_ms
        self.changes = SettingsChanges(secrets, now_ms)
        self._cache = TtlCache(self._read, now_ms)

    async def settings(self, account: str) -> CallbackSettings | None:
        """Return an account's settings; raises StoreDown."""
        return await self._cache.get(account)

    async def reread(self, account: str) -> CallbackSettings | None:
        """Return an account's settings as they are stored now; raises StoreDown."""
        self._cache.put(account, await self._read(account))
        return await self.settings(account)

    async def auto_set(self, account: str) -> str | None:
        """Return the default target of an account's calls, if any; raises StoreDown.

        A stopped target is one: what is for it becomes dead letters, and can be sent again.
        """
        settings = await self.settings(account)
        return AUTO_SET if settings and settings.target else None

    async def resolve(self, account: str, target: str) -> DeliveryTarget | None:
        """Resolve a call's target; None: there is none now. Raises StoreDown."""
        if target != AUTO_SET:
            return parse_delivery_target(target, "target")
        settings = await self.settings(account)
        if settings is None or settings.target is None or settings.is_stopped:
            return None
        return parse_delivery_target(settings.target, "target")

    async def signer(self, account: str) -> Signer:
        """Return an account's signer, with a new secret if it has none; raises StoreDown."""
        settings = await self._settings_to_sign(account) or await self._create(account)
        return Signer(*settings.secrets(self._now_ms()))

    async def webhook_signer(self, account: str) -> Signer:
        """Return the signer of an account's webhooks; raises WebhookFailed."""
        try:
            return await self.signer(account)
        except StoreDown as error:
            raise WebhookFailed("store_down", error.detail, ()) from None

    async def put(self, account: str, request: PutCallback) -> tuple[CallbackSettings, bool]:
        """Store new settings; also returns whether the secret has to be shown."""
        before, after = await self._update(
            account, lambda before: self.changes.put(account, before, request)
        )
        return after, before is None or before.is_secret_unseen

    async def rotate_secret(self, account: str) -> CallbackSettings:
        """Create a new secret; the previous one, if there is one, signs for another day."""
        return (await self._update(account, lambda before: self.changes.rotate(account, before)))[1]

    async def remove(self, account: str) -> bool:
        """Delete an account's settings; returns whether there were any.

        What remains is the number of the next secret, so that no deleted secret signs again.
        """

        def remove(before: CallbackSettings | None) -> CallbackSettings | None:
            if before is None or before.is_implicit:
                return before
            return self.changes.remove(account, before)

        before, after = await self._update(account, remove)
        return after is not before

    async def stop(self, account: str, target: DeliveryTarget) -> None:
        """Stop callbacks to this target until settings are put again; another target goes on."""

        def stop(before: CallbackSettings | None) -> CallbackSettings | None:
            if before is None or before.target is None or before.is_stopped:
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

    async def _settings_to_sign(self, account: str) -> CallbackSettings | None:
        # While the store is down, calls go on: what was read last signs their webhooks.
        try:
            return await self.settings(account)
        except StoreDown:
            stale = self._cache.get_stale(account)
            if stale is None or stale.value is None:
                raise
            return stale.value

    async def _create(self, account: str) -> CallbackSettings:
        initial = self.changes.initial(account, is_secret_unseen=True)

        def create(before: CallbackSettings | None) -> CallbackSettings:
            return before or initial

        return (await self._update(account, create))[1]


def _decode(body: bytes | None) -> CallbackSettings | None:
    return decode_message(body, CallbackSettings) if body else None
