"""Flows in the database: numbered versions, of which one is published."""

import msgspec
import pytest
from sqlalchemy import func, select

from api.common.errors import Conflict, NotFound, PreconditionFailed
from api.db.database import Database
from api.documents.cipher import DocumentCipher
from api.documents.document import Document
from api.documents.flow_store import MAX_FLOW_VERSIONS, FlowStore
from api.documents.store import DocumentStore
from api.documents.sync_store import DELETION_KEPT_MS, SyncStore
from api.documents.tables import collections, documents, flow_versions
from tests.contract.api.documents.stores import (
    SECRET,
    add_accounts,
    document_store,
    flow_store,
)
from tests.harness.api.manual_clock import ManualClock
from wire.documents.versioned import FlowState


@pytest.fixture
async def flows(database: Database, clock: ManualClock) -> FlowStore:
    """Provide a store of flows with two accounts."""
    await add_accounts(database, "acme", "other")
    return flow_store(database, clock)


@pytest.fixture
def store(database: Database, clock: ManualClock) -> DocumentStore:
    """Provide the store of documents in the same database."""
    return document_store(database, clock)


def state(document: Document) -> FlowState:
    """Return what a flow's document says."""
    return msgspec.json.decode(document.body, type=FlowState)


async def test_versions_are_numbered_and_published(flows: FlowStore, store: DocumentStore) -> None:
    """An unpublished version leaves the published one; an earlier one may be published again."""
    first, version = await flows.put_flow_version("acme", "ivr", b"{1}")
    assert (state(first), version.number) == (FlowState(1, 1), 1)
    second, draft = await flows.put_flow_version("acme", "ivr", b"{2}", publish=False)
    assert (state(second), draft.is_published) == (FlowState(1, 2), False)
    third, published = await flows.publish("acme", "ivr", 2)
    assert (state(third), published.body, published.is_published) == (FlowState(2, 2), b"{2}", True)
    last, _ = await flows.publish("acme", "ivr", 1)
    assert await store.get("acme", "flow", "ivr") == last
    assert state(last) == FlowState(1, 2)
    assert first.version < second.version < third.version < last.version
    found = await flows.flow_versions("acme", "ivr")
    assert [(each.number, each.size) for each in found] == [(1, 3), (2, 3)]
    assert (await flows.flow_version("acme", "ivr", 1)).body == b"{1}"


async def test_a_flow_that_was_never_published(flows: FlowStore) -> None:
    """No call runs it."""
    document, _ = await flows.put_flow_version("acme", "ivr", b"{1}", publish=False)
    assert state(document) == FlowState(0, 1)


async def test_other_accounts_see_no_flow(flows: FlowStore) -> None:
    """Neither its versions, nor can they publish one."""
    await flows.put_flow_version("acme", "ivr", b"{1}")
    assert await flows.flow_versions("other", "ivr") == []
    with pytest.raises(NotFound):
        await flows.flow_version("other", "ivr", 1)
    with pytest.raises(NotFound):
        await flows.publish("other", "ivr", 1)
    with pytest.raises(NotFound):
        await flows.publish("acme", "ivr", 2)


async def test_an_expected_version(flows: FlowStore) -> None:
    """Neither a new version nor a publication replaces what another person made meanwhile."""
    first, _ = await flows.put_flow_version("acme", "ivr", b"{1}", expected=0)
    await flows.put_flow_version("acme", "ivr", b"{2}", expected=first.version)
    with pytest.raises(PreconditionFailed):
        await flows.put_flow_version("acme", "ivr", b"{3}", expected=first.version)
    with pytest.raises(PreconditionFailed):
        await flows.publish("acme", "ivr", 1, expected=first.version)
    assert len(await flows.flow_versions("acme", "ivr")) == 2


async def test_numbers_outlive_a_deleted_flow(flows: FlowStore, store: DocumentStore) -> None:
    """Engines cache a version by its number, so a new flow of the same name has others."""
    await flows.put_flow_version("acme", "ivr", b"{1}")
    await store.delete("acme", "flow", "ivr")
    assert await flows.flow_versions("acme", "ivr") == []
    with pytest.raises(NotFound):
        await flows.publish("acme", "ivr", 1)
    document, _ = await flows.put_flow_version("acme", "ivr", b"{2}", publish=False)
    assert state(document) == FlowState(0, 2)


async def test_old_versions_are_removed(flows: FlowStore) -> None:
    """The last ones are kept, and the published one."""
    for number in range(MAX_FLOW_VERSIONS + 2):
        await flows.put_flow_version("acme", "ivr", b"{%d}" % number, publish=number == 0)
    found = [each.number for each in await flows.flow_versions("acme", "ivr")]
    assert found == [1, *range(3, MAX_FLOW_VERSIONS + 3)]


async def size_of(database: Database, kind: str = "flow") -> int:
    """Return the bytes that are counted for acme, which are those that it has."""
    collection = select(collections.c.size).where(collections.c.kind == kind)
    bodies = select(func.coalesce(func.sum(func.length(flow_versions.c.body)), 0))
    live = select(func.coalesce(func.sum(documents.c.size), 0)).where(documents.c.kind == kind)
    counted = await database.scalar(collection.where(collections.c.account_id == "acme"))
    its_versions = await database.scalar(bodies) if kind == "flow" else 0
    assert counted == its_versions + await database.scalar(live)
    return int(counted)


async def test_all_versions_count(database: Database, clock: ManualClock) -> None:
    """Beyond the limit nothing is stored; what makes an account smaller is always possible."""
    await add_accounts(database, "acme")
    cipher = DocumentCipher((SECRET,))
    flows = FlowStore(database, clock, cipher, max_bytes=1_000)
    store = DocumentStore(database, clock, cipher, max_bytes=2_000)
    await flows.put_flow_version("acme", "ivr", b"1" * 400)
    await flows.put_flow_version("acme", "other", b"2" * 400)
    for flow_id in ("ivr", "new"):
        with pytest.raises(Conflict, match=r"would have 1\d+ bytes.*at most 1000") as raised:
            await flows.put_flow_version("acme", flow_id, b"3" * 400)
        assert (raised.value.code, raised.value.errors[0].path) == ("quota", "")
    assert len(await flows.flow_versions("acme", "ivr")) == 1
    assert 800 < await size_of(database) < 1_000
    await store.delete("acme", "flow", "other")
    left = 2_000 - await size_of(database)
    await store.put("acme", "request", "r", b"4" * 900)
    await store.put("acme", "request", "r", b"5" * left)
    assert await size_of(database, "request") == left
    with pytest.raises(Conflict, match="would have 2001 bytes"):
        await store.put("acme", "request", "s", b"6")
    smaller = DocumentStore(database, clock, cipher, max_bytes=10)
    await smaller.put("acme", "request", "r", b"7" * 900)
    assert (await store.get("acme", "request", "r")).body == b"7" * 900


async def test_old_versions_count_no_more(flows: FlowStore, database: Database) -> None:
    """Those that exceed the number of versions are removed, and subtracted."""
    for _ in range(MAX_FLOW_VERSIONS + 5):
        await flows.put_flow_version("acme", "ivr", b"{12345678}")
    assert await size_of(database) < 10 * MAX_FLOW_VERSIONS + 100


async def test_versions_of_a_deleted_flow(
    flows: FlowStore, store: DocumentStore, database: Database, clock: ManualClock
) -> None:
    """They can be restored for as long as a call may last; then they are removed."""
    synced = SyncStore(database, clock, DocumentCipher((SECRET,)))
    for flow_id in ("ivr", "restored", "live"):
        await flows.put_flow_version("acme", flow_id, b"{1}")
        await flows.put_flow_version("acme", flow_id, b"{2}")
    await store.delete("acme", "flow", "ivr")
    await store.delete("acme", "flow", "restored")
    clock.now += DELETION_KEPT_MS
    await synced.remove_old_deletions()
    await flows.put_flow_version("acme", "restored", b"{3}")
    assert (await flows.flow_version("acme", "restored", 1)).body == b"{1}"
    clock.now += 1
    await synced.remove_old_deletions()
    await size_of(database)
    names = select(flow_versions.c.flow_id).distinct().order_by(flow_versions.c.flow_id)
    assert [each.flow_id for each in await database.rows(names)] == ["live", "restored"]
    gone = select(documents.c.id).where(documents.c.is_deleted)
    assert await database.rows(gone) == []
    _, version = await flows.put_flow_version("acme", "ivr", b"{4}")
    assert version.number == 1
