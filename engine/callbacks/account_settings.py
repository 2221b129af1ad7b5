"""Callback settings of accounts: the target of `auto-set`, signing secrets and limits."""

from collections.abc import Callable

from msgspec.structs import replace

from base.ttl_cache import TtlCache
from engine.callbacks.settings_changes import AccountSecrets, SettingsChanges
from engine.store.callback_queue import CallbackQueue
from engine.store.errors import StoreDown
from engine.webhooks.errors import WebhookFailed
from engine.webhooks.signatures import Signer
from wire.callbacks.settings import CallbackSettings
from wire.callbacks.targets import AUTO_SET, DeliveryTarget, parse_delivery_target
from wire.decoding.messages import decode_message


class AccountSettings:
    """Reads settings, and stops targets; caches them, so a busy account costs one read a second."""

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
        """Return an account's signer; without settings, with its first secret; raises StoreDown."""
        settings = await self._settings_to_sign(account) or self.changes.initial(account)
        return Signer(*settings.secrets(self._now_ms()))

    async def webhook_signer(self, account: str) -> Signer:
        """Return the signer of an account's webhooks; raises WebhookFailed."""
        try:
            return await self.signer(account)
        except StoreDown as error:
            raise WebhookFailed("store_down", error.detail, ()) from None

    async def stop(self, account: str, target: DeliveryTarget) -> None:
        """Stop callbacks to this target until settings are put again; another target goes on."""
        found = await self.reread(account)
        if found is None or found.target is None or found.is_stopped:
            return
        if parse_delivery_target(found.target, "target") == target:
            await self._store.stop_account(account, found.put_ms)
            self._cache.put(account, replace(found, is_stopped=True))

    async def _read(self, account: str) -> CallbackSettings | None:
        body, stopped_ms = await self._store.account(account)
        if body is None:
            return None
        found = decode_message(body, CallbackSettings)
        return replace(found, is_stopped=found.put_ms == stopped_ms)

    async def _settings_to_sign(self, account: str) -> CallbackSettings | None:
        # While the store is down, calls go on: what was read last signs their webhooks.
        try:
            return await self.settings(account)
        except StoreDown:
            if (stale := self._cache.get_stale(account)) is None:
                raise
            return stale.value
