"""An account's flows: versions that never change, of which one is published."""

import asyncio

from msgspec import Raw, Struct

from api.common.account_concurrency import LimitedSlots
from api.common.timestamps import format_ms
from api.documents.document import Document, FlowVersionInfo, Kind
from api.documents.editor import DocumentEditor
from api.documents.flow_store import FlowStore
from api.engine_client import EngineClient, id_in_path
from api.http.paging import Page
from api.http.preconditions import ABSENT, Precondition
from api.routing.flow_diff import FlowDiff, Version, flow_diff
from api.routing.flow_schemas import (
    FlowPage,
    FlowSummary,
    FlowVersionDocument,
    FlowVersionList,
    FlowVersionView,
)
from wire.decoding.messages import decode_message
from wire.documents.versioned import FlowState

KIND: Kind = "flow"


class FlowService(Struct, frozen=True):
    documents: DocumentEditor
    flows: FlowStore
    engine: EngineClient
    diffs: LimitedSlots

    async def list(self, account_id: str, page: Page) -> FlowPage:
        found, total = await self.documents.page(account_id, KIND, page)
        return FlowPage(tuple(map(flow_summary, found)), total, page.limit, page.offset)

    async def check(self, account_id: str, flow_id: str, body: bytes) -> None:
        """Let an engine check a flow; raises InvalidRequest with all errors."""
        path = f"/flows/{id_in_path(account_id)}/{id_in_path(flow_id)}/check"
        await self.engine.request_raw("POST", path, Raw(body))

    async def put(
        self, account_id: str, flow_id: str, body: bytes, condition: Precondition, *, publish: bool
    ) -> tuple[FlowSummary, int]:
        """Store a new version; raises PreconditionFailed, and InvalidRequest with all errors."""
        found = await self.documents.find(account_id, KIND, [flow_id])
        condition.check(found[flow_id].version if flow_id in found else ABSENT)
        if flow_id not in found:
            await self.documents.check_room(account_id, KIND)
        await self.check(account_id, flow_id, body)
        document, _ = await self.flows.put_flow_version(
            account_id, flow_id, body, publish=publish, expected=condition.version
        )
        await self.documents.push(account_id)
        return flow_summary(document), document.version

    async def get(self, account_id: str, flow_id: str) -> tuple[FlowVersionDocument, int]:
        """Return the version that calls run, or the latest if none is published."""
        document = await self.documents.get(account_id, KIND, flow_id)
        state = _state(document)
        shown = await self.version(account_id, flow_id, state.published or state.last)
        return shown, document.version

    async def versions(self, account_id: str, flow_id: str) -> FlowVersionList:
        """Return the kept versions of a flow, newest first; raises NotFound."""
        state = _state(await self.documents.get(account_id, KIND, flow_id))
        found = await self.flows.flow_versions(account_id, flow_id)
        rows = [_version_view(each, state) for each in found]
        rows.sort(key=lambda each: each.number, reverse=True)
        return FlowVersionList(tuple(rows), len(rows))

    async def version(self, account_id: str, flow_id: str, number: int) -> FlowVersionDocument:
        """Return a version with its document; raises NotFound."""
        state = _state(await self.documents.get(account_id, KIND, flow_id))
        found = await self.flows.flow_version(account_id, flow_id, number)
        is_published, created_time = number == state.published, format_ms(found.made_ms)
        return FlowVersionDocument(flow_id, number, is_published, created_time, Raw(found.body))

    async def diff(self, account_id: str, flow_id: str, before: int, after: int) -> FlowDiff:
        """Return what differs between two versions; raises NotFound, TooManyRequests."""
        async with self.diffs.slot(account_id):
            versions = [
                Version(number, bytes((await self.version(account_id, flow_id, number)).document))
                for number in (before, after)
            ]
            return await asyncio.to_thread(flow_diff, *versions)

    async def publish(
        self, account_id: str, flow_id: str, number: int, condition: Precondition
    ) -> FlowSummary:
        """Let calls run a version from now on, also an earlier one."""
        await self.documents.get(account_id, KIND, flow_id)
        found = await self.flows.flow_version(account_id, flow_id, number)
        await self.check(account_id, flow_id, found.body)  # what it uses may have changed since
        document, _ = await self.flows.publish(
            account_id, flow_id, number, expected=condition.version
        )
        await self.documents.push(account_id)
        return flow_summary(document)

    async def delete(self, account_id: str, flow_id: str, condition: Precondition) -> None:
        """Delete a flow; calls that run it continue."""
        await self.documents.delete(account_id, KIND, flow_id, condition.version)


def flow_summary(document: Document) -> FlowSummary:
    state = _state(document)
    changed_time = format_ms(document.changed_ms)
    return FlowSummary(
        document.id, state.published or None, state.last, document.version, changed_time
    )


def _state(document: Document) -> FlowState:
    return decode_message(document.body, FlowState)


def _version_view(version: FlowVersionInfo, state: FlowState) -> FlowVersionView:
    is_published = version.number == state.published
    return FlowVersionView(version.number, is_published, format_ms(version.made_ms), version.size)
