"""Compares what the database and the engines' store have, and sends what is missing there.

Both have a checksum of what an account has of each kind. Where these differ, the versions of all
documents are compared, and those of the database replace others.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

import structlog
from msgspec import Struct

from api.common.clock import Clock
from api.common.errors import ApiError, ServiceUnavailable
from api.documents.sync_store import CollectionKey, CollectionState, SyncedDocument, SyncStore
from api.documents.transfer import MAX_BATCH_CHANGES, DocumentTransfer
from api.engine_client import EngineClient
from wire.documents.versioned import (
    KINDS,
    AccountNames,
    DocumentChecksums,
    DocumentVersions,
)

log = structlog.get_logger()
FIRST_RETRY_MS = 1_000
MAX_RETRY_MS = 60_000
MAX_ACCOUNTS_AT_ONCE = 8  # of which all versions are compared
NEW_FLOW_VERSIONS_MS = 600_000  # older ones were sent when they were published
_EMPTY = CollectionState()


class _Retry(Struct, frozen=True):
    """When a collection that differs is compared again, and how long it waited."""

    at_ms: int
    delay_ms: int


class _Difference(Struct, frozen=True):
    """What the database has of a collection, and the checksum of the engines' store."""

    key: CollectionKey
    state: CollectionState
    checksum: int

    @property
    def is_lost(self) -> bool:
        """Whether the engines' store has nothing of it."""
        return self.checksum == 0


class Compared(Struct, frozen=True):
    """What was wrong in the engines' store: it had lost documents, or had older ones."""

    is_lost: bool = False
    is_outdated: bool = False


class DocumentComparison:
    """Remembers up to which version the engines have the changes of each collection.

    `report` gets the number of collections that were different when they were compared last.
    """

    def __init__(
        self,
        engine: EngineClient,
        store: SyncStore,
        transfer: DocumentTransfer,
        now_ms: Clock,
        report: Callable[[int], None],
    ) -> None:
        self._engine = engine
        self._store = store
        self._transfer = transfer
        self._now_ms = now_ms
        self._report = report
        self._sent: dict[CollectionKey, int] = {}
        self._retries: dict[CollectionKey, _Retry] = {}

    async def send_changes(self, account_id: str) -> None:
        """Send what has changed since the last time; raises ApiError."""
        states = await self._store.collections([account_id])
        if not all(key in self._sent for key in states):
            self.retry_now(account_id)  # what differed a moment ago has just been changed
            await self.compare([account_id])
            return
        since_ms = self._now_ms() - NEW_FLOW_VERSIONS_MS
        for key in sorted(states, key=lambda each: KINDS.index(each.kind)):
            while self._sent[key] < states[key].version:
                found = await self._store.changes(key, self._sent[key], MAX_BATCH_CHANGES)
                if not found:  # a deletion that was removed
                    self._sent[key] = states[key].version
                    break
                self._on_rejected(await self._transfer.send(found, since_ms))
                self._sent[key] = max(self._sent[key], found[-1].version)

    async def compare(self, accounts: Collection[str]) -> Compared:
        """Compare accounts, and send what differs; raises ServiceUnavailable."""
        found = await self._differences(accounts)
        lost = [each for each in found if each.is_lost]
        await self._refill(lost)
        others = {each.key for each in found if not each.is_lost}
        is_outdated = bool(others) and await self._compare_versions(others)
        self._report(len(self._retries))
        return Compared(bool(lost), is_outdated)

    async def _compare_versions(self, keys: Collection[CollectionKey]) -> bool:
        """Compare what still differs, several accounts at once; returns whether any was older."""
        # What differed because it was changed between the two reads does not any more.
        again = await self._differences(sorted({each.account_id for each in keys}))
        by_account: dict[str, list[CollectionKey]] = {}
        for each in again:  # in the order of their kinds
            if each.key in keys:
                by_account.setdefault(each.key.account_id, []).append(each.key)
        pending, is_outdated = list(by_account.values()), False
        while pending:
            now, pending = pending[:MAX_ACCOUNTS_AT_ONCE], pending[MAX_ACCOUNTS_AT_ONCE:]
            found = await asyncio.gather(*map(self._reconcile_all, now), return_exceptions=True)
            for result in found:
                if isinstance(result, BaseException):
                    raise result
                is_outdated = is_outdated or result
        return is_outdated

    async def _reconcile_all(self, keys: Sequence[CollectionKey]) -> bool:
        is_outdated = False
        for key in keys:
            with _logging_rejection(key):
                is_outdated = await self._reconcile(key) or is_outdated
        return is_outdated

    def retry_now(self, account_id: str) -> None:
        """Compare all that an account has, also what was found different a moment ago."""
        for kind in KINDS:
            self._retries.pop(CollectionKey(account_id, kind), None)

    async def _differences(self, accounts: Collection[str]) -> list[_Difference]:
        stored = await self._store.collections(accounts)
        names = AccountNames(tuple(accounts))
        answer = await self._engine.request(DocumentChecksums, "POST", "/document-checksums", names)
        now_ms, found = self._now_ms(), list[_Difference]()
        for account in answer.accounts:
            for kind in KINDS:
                key = CollectionKey(account.account, kind)
                state, checksum = stored.get(key, _EMPTY), account.checksums.get(kind, 0)
                if state.checksum == checksum:
                    self._retries.pop(key, None)
                    self._sent[key] = max(state.version, self._sent.get(key, 0))
                elif key not in self._retries or self._retries[key].at_ms <= now_ms:
                    found.append(_Difference(key, state, checksum))
        return found

    async def _refill(self, lost: Sequence[_Difference]) -> None:
        """Send all documents of collections of which the engines' store has none."""
        if not lost:
            return
        log.warning("documents are missing in the engines' store", collections=len(lost))
        for each in lost:
            self._delay(each.key)
        for kind in KINDS:
            accounts = [each.key.account_id for each in lost if each.key.kind == kind]
            after = ("", "")
            while accounts:
                page = await self._store.live(kind, accounts, after, MAX_BATCH_CHANGES)
                if not page:
                    break
                with _logging_rejection(page[0].key):
                    self._on_rejected(await self._transfer.send(page))
                after = (page[-1].key.account_id, page[-1].id)
        # A PBX node keeps a phone until an engine has read its deletion.
        names = sorted({each.key.account_id for each in lost})
        deleted = await self._store.recent_deletions("phone", names, MAX_BATCH_CHANGES)
        with _logging_rejection(lost[0].key):
            await self._transfer.send(deleted)
        for each in lost:
            self._sent[each.key] = each.state.version

    async def _reconcile(self, key: CollectionKey) -> bool:
        """Compare all versions of a collection; returns whether engines had older documents."""
        self._delay(key)
        path = f"/documents/{key.account_id}/{key.kind}"
        theirs = (await self._engine.request(DocumentVersions, "GET", path)).versions
        ours = await self._store.versions(key)  # after theirs, as changes are stored before sent
        for doc_id, version in theirs.items():
            # The database is that of a backup, or no database has it.
            if doc_id not in ours or ours[doc_id].version < version:
                ours[doc_id] = await self._store.renew(key, doc_id, version)
        # What the engines' store lacks may be deleted there: sending it shows whether it is.
        to_send = [
            doc_id
            for doc_id, stored in ours.items()
            if stored.version > theirs.get(doc_id, stored.version if stored.is_deleted else 0)
        ]
        for start in range(0, len(to_send), MAX_BATCH_CHANGES):
            found = await self._store.read(key, to_send[start : start + MAX_BATCH_CHANGES])
            self._on_rejected(await self._transfer.send(found))
        return bool(to_send)

    def _delay(self, key: CollectionKey) -> None:
        """Let what differs again be compared after a while, which grows; once without a delay."""
        before = self._retries.get(key)
        longer_ms = max(2 * before.delay_ms, FIRST_RETRY_MS) if before else 0
        delay_ms = min(longer_ms, MAX_RETRY_MS)
        self._retries[key] = _Retry(self._now_ms() + delay_ms, delay_ms)

    def _on_rejected(self, rejected: Sequence[SyncedDocument]) -> None:
        for each in rejected:
            self._delay(each.key)
            log.warning(
                "document not accepted by the engines",
                account=each.key.account_id,
                kind=each.key.kind,
                id=each.id,
            )


@contextmanager
def _logging_rejection(key: CollectionKey) -> Iterator[None]:
    """Let an engine's rejection of one account's documents not stop the others."""
    try:
        yield
    except ServiceUnavailable:
        raise
    except ApiError as error:
        log.warning(
            "documents rejected", account=key.account_id, kind=key.kind, reason=error.detail
        )
