"""Callback settings of accounts, changed as the REST layer changes them."""

from collections.abc import Callable

import msgspec
from msgspec import Struct

from engine.callbacks.account_settings import AccountSettings
from engine.store.store import Store
from engine.store.versioned_documents import VersionedDocument
from wire.callbacks.account import PutCallback
from wire.callbacks.settings import CallbackSettings
from wire.documents.versioned import CALLBACK_ID

Change = Callable[[CallbackSettings | None], CallbackSettings]


class SettingsWriter(Struct, frozen=True):
    """Lets an engine make the settings that follow, and stores them as a document."""

    store: Store
    targets: AccountSettings

    async def put(self, account: str, request: PutCallback) -> CallbackSettings:
        """Set target and limits."""
        changes = self.targets.changes
        return await self._change(account, lambda before: changes.put(account, before, request))

    async def rotate(self, account: str) -> CallbackSettings:
        """Create a new secret."""
        changes = self.targets.changes
        return await self._change(account, lambda before: changes.rotate(account, before))

    async def remove(self, account: str) -> CallbackSettings:
        """Remove everything but the number of the next secret."""

        def remove(before: CallbackSettings | None) -> CallbackSettings:
            assert before is not None
            return self.targets.changes.remove(account, before)

        return await self._change(account, remove)

    async def _change(self, account: str, change: Change) -> CallbackSettings:
        after = change(await self.targets.reread(account))
        documents = self.store.documents
        known = (await documents.versions(account, "callback")).get(CALLBACK_ID, 0)
        version = max(known + 1, await self.store.time_ms())
        document = VersionedDocument(CALLBACK_ID, version, msgspec.json.encode(after))
        await documents.put(account, "callback", [document])
        await self.targets.reread(account)
        return after
