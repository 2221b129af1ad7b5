"""Sends documents to the engines' store, in batches."""

from collections.abc import AsyncIterator, Collection, Sequence
from typing import TypeVar

import msgspec
import structlog
from msgspec import Struct, field

from api.common.clock import Clock
from api.common.errors import InvalidRequest
from api.documents.sync_store import SyncedDocument, SyncStore
from api.engine_client import EngineClient
from wire.decoding.messages import decode_message
from wire.documents.versioned import (
    DocumentChange,
    FlowState,
    FlowVersionBody,
    PatchDocuments,
    PatchedDocuments,
)
from wire.flow import MAX_CALL_S

log = structlog.get_logger()
T = TypeVar("T")
MAX_BATCH_CHANGES = 500
MAX_BATCH_BYTES = 786_432  # of bodies
DELETED = msgspec.Raw(b"null")


class _Batch(Struct):
    """What a request sends."""

    documents: list[SyncedDocument] = field(default_factory=list)
    versions: list[FlowVersionBody] = field(default_factory=list)
    size: int = 0

    @property
    def is_full(self) -> bool:
        return self.count >= MAX_BATCH_CHANGES or self.size >= MAX_BATCH_BYTES

    @property
    def count(self) -> int:
        return len(self.documents) + len(self.versions)

    def halves(self) -> "list[_Batch]":
        """Return smaller batches in the same order, versions first; none if it has one item."""
        if self.count <= 1:
            return []
        halves = [_Batch(versions=each) for each in _halves(self.versions)]
        return halves + [_Batch(documents=each) for each in _halves(self.documents)]

    def remove_flows(self, names: Collection[tuple[str, str]]) -> list[SyncedDocument]:
        """Remove flows of accounts, and return their documents."""
        removed = [
            each
            for each in self.documents
            if each.key.kind == "flow" and (each.key.account_id, each.id) in names
        ]
        self.documents = [each for each in self.documents if each not in removed]
        return removed


class DocumentTransfer(Struct, frozen=True):
    """Engines store each document unless they have a newer one."""

    engine: EngineClient
    store: SyncStore
    now_ms: Clock

    async def send(
        self, documents: Sequence[SyncedDocument], flows_since_ms: int | None = None
    ) -> list[SyncedDocument]:
        """Send documents and deletions; returns those that engines did not accept.

        With a flow go the versions that were made since; without a time, all that a live call may
        run.
        """
        since_ms = self.now_ms() - MAX_CALL_S * 1000 if flows_since_ms is None else flows_since_ms
        rejected = list[SyncedDocument]()
        async for batch in self._batches(documents, since_ms):
            rejected += await self._send(batch)
        return rejected

    async def _batches(
        self, documents: Sequence[SyncedDocument], since_ms: int
    ) -> AsyncIterator[_Batch]:
        batch = _Batch()
        for document in documents:
            if document.body == b"":
                continue
            for version in await self._versions(document, since_ms):
                batch.versions.append(version)
                batch.size += len(bytes(version.body))
                if batch.is_full:
                    yield batch
                    batch = _Batch()
            batch.documents.append(document)
            batch.size += len(document.body or b"")
            if batch.is_full:
                yield batch
                batch = _Batch()
        if batch.documents or batch.versions:
            yield batch

    async def _versions(self, document: SyncedDocument, since_ms: int) -> list[FlowVersionBody]:
        """Return the versions of a flow that must be there before its document names one."""
        if document.key.kind != "flow" or document.body is None:
            return []
        state = decode_message(document.body, FlowState)
        found = await self.store.flow_bodies(document.key, document.id, state.published, since_ms)
        return [
            FlowVersionBody(document.key.account_id, document.id, number, msgspec.Raw(body))
            for number, body in found
        ]

    async def _send(self, batch: _Batch) -> list[SyncedDocument]:
        """Send a batch; if engines reject it as a whole, in parts, to find what is wrong."""
        rejected, parts = list[SyncedDocument](), [batch]
        incomplete = set[tuple[str, str]]()  # flows that name a version that was rejected
        while parts:
            part = parts.pop()
            rejected += part.remove_flows(incomplete)
            try:
                rejected += await self._send_whole(part)
            except InvalidRequest as error:
                parts += reversed(part.halves())
                if part.count == 1:
                    log.warning("documents rejected", reason=error.detail)
                    rejected += part.documents
                    incomplete |= {(each.account, each.flow) for each in part.versions}
        return rejected

    async def _send_whole(self, batch: _Batch) -> list[SyncedDocument]:
        changes = tuple(
            DocumentChange(
                each.key.account_id,
                each.key.kind,
                each.id,
                each.version,
                DELETED if each.body is None else msgspec.Raw(each.body),
            )
            for each in batch.documents
        )
        request = PatchDocuments(changes, tuple(batch.versions))
        answer = await self.engine.request(PatchedDocuments, "PATCH", "/documents", request)
        rejected = list[SyncedDocument]()
        for document, version in zip(batch.documents, answer.versions, strict=True):
            if version > document.version and document.body is not None:
                await self.store.renew(document.key, document.id, version, document.version)
            elif version < document.version:
                rejected.append(document)
        return rejected


def _halves(items: list[T]) -> list[list[T]]:
    middle = len(items) // 2
    return [each for each in (items[:middle], items[middle:]) if each]
