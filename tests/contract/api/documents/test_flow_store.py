"""Flows in the database: numbered versions, of which one is published."""

import msgspec
import pytest

from api.common.errors import NotFound, PreconditionFailed
from api.db.database import Database
from api.documents.document import Document
from api.documents.flow_store import MAX_FLOW_VERSIONS, FlowStore
from api.documents.store import DocumentStore
from tests.contract.api.documents.stores import add_accounts, document_store, flow_store
from tests.contract.api.manual_clock import ManualClock
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
    assert [(each.number, each.body) for each in found] == [(1, b"{1}"), (2, b"{2}")]
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
