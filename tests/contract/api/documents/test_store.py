"""Documents in the database: versions, preconditions, lists, and routes that move."""

import asyncio

import pytest
from sqlalchemy import select

from api.common.errors import NotFound, PreconditionFailed, ServiceUnavailable
from api.db.database import Database
from api.documents.store import DocumentStore
from api.documents.tables import documents
from api.http.paging import Page
from tests.contract.api.documents.stores import add_accounts, document_store
from tests.harness.api.manual_clock import ManualClock
from wire.documents.versioned import KINDS, DocumentKind

ALL = Page(100, 0)


@pytest.fixture
async def store(database: Database, clock: ManualClock) -> DocumentStore:
    """Provide a store with two accounts."""
    await add_accounts(database, "acme", "other")
    return document_store(database, clock)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_document_is_put_read_replaced_and_deleted(
    store: DocumentStore, clock: ManualClock, kind: DocumentKind
) -> None:
    """Each change has a higher version, at least the time; another account sees nothing."""
    first = await store.put("acme", kind, "x", b"{1}")
    second = await store.put("acme", kind, "x", b"{2}")
    assert clock() <= first.version < second.version
    assert await store.get("acme", kind, "x") == second
    assert (second.body, second.changed_ms) == (b"{2}", clock())
    with pytest.raises(NotFound):
        await store.get("other", kind, "x")
    with pytest.raises(NotFound):
        await store.delete("other", kind, "x")
    deletion = await store.delete("acme", kind, "x")
    assert deletion.version > second.version
    with pytest.raises(NotFound):
        await store.get("acme", kind, "x")
    with pytest.raises(NotFound):
        await store.delete("acme", kind, "x")
    assert (await store.put("acme", kind, "x", b"{3}")).version > deletion.version


async def test_an_expected_version(store: DocumentStore) -> None:
    """A change is made to the version that it expects, or not at all; 0 expects no document."""
    first = await store.put("acme", "agent", "1001", b"{1}", expected=0)
    for expected in (0, first.version + 1):
        with pytest.raises(PreconditionFailed):
            await store.put("acme", "agent", "1001", b"{2}", expected=expected)
        with pytest.raises(PreconditionFailed):
            await store.delete("acme", "agent", "1001", expected=expected)
    second = await store.put("acme", "agent", "1001", b"{2}", expected=first.version)
    await store.delete("acme", "agent", "1001", expected=second.version)
    with pytest.raises(PreconditionFailed):
        await store.put("acme", "agent", "1001", b"{3}", expected=second.version)
    await store.put("acme", "agent", "1001", b"{3}", expected=0)


async def test_two_writers_that_expect_the_same_version(store: DocumentStore) -> None:
    """One of them succeeds."""
    first = await store.put("acme", "request", "x", b"{1}")
    results = await asyncio.gather(
        *(store.put("acme", "request", "x", b"{2}", expected=first.version) for _ in range(5)),
        return_exceptions=True,
    )
    assert sum(isinstance(each, PreconditionFailed) for each in results) == 4


async def test_an_unknown_account_has_no_documents(store: DocumentStore) -> None:
    """It is an error that names the account."""
    with pytest.raises(NotFound, match="no account unknown"):
        await store.put("unknown", "agent", "1001", b"{}")


async def test_a_page(store: DocumentStore) -> None:
    """A list is in the order of ids, and has as many as there are, also with a prefix."""
    for name in ("+473", "+471", "+4721", "+4720", "+461"):
        await store.put("acme", "route", name, name.encode())
    await store.put("other", "route", "+4722", b"")
    await store.put("acme", "agent", "+4723", b"")
    await store.delete("acme", "route", "+471")
    found, total = await store.page("acme", "route", Page(2, 1))
    assert ([each.id for each in found], total) == (["+4720", "+4721"], 4)
    found, total = await store.page("acme", "route", ALL, "+472")
    assert ([each.body for each in found], total) == ([b"+4720", b"+4721"], 2)
    assert await store.page("acme", "flow", ALL) == ([], 0)
    assert (await store.page("acme", "route", Page(10, 9)))[1] == 4


async def test_a_route_moves_with_its_number(store: DocumentStore) -> None:
    """A number has one route: the account that puts the last one takes it over."""
    first = await store.put("acme", "route", "+471", b"{1}")
    assert await store.owner("route", "+471") == "acme"
    second = await store.put("other", "route", "+471", b"{2}", expected=0)
    assert second.version > first.version
    assert await store.owner("route", "+471") == "other"
    with pytest.raises(NotFound):
        await store.get("acme", "route", "+471")
    await store.delete("other", "route", "+471")
    assert await store.owner("route", "+471") is None
    assert (await store.page("acme", "route", ALL))[1] == 0


async def test_accounts_that_put_the_same_route_at_once(store: DocumentStore) -> None:
    """One of them has it, whichever order they wrote in; none waits for the other for ever."""
    puts = [("acme" if number % 2 else "other", number) for number in range(20)]
    await asyncio.gather(
        *(store.put(account, "route", "+471", b"%d" % number) for account, number in puts)
    )
    owner = await store.owner("route", "+471")
    counts = [(await store.page(each, "route", ALL))[1] for each in ("acme", "other")]
    assert counts == ([1, 0] if owner == "acme" else [0, 1])


@pytest.mark.parametrize("kind", ["request", "callback", "phone"])
async def test_documents_with_secrets_are_encrypted(
    store: DocumentStore, database: Database, clock: ManualClock, kind: DocumentKind
) -> None:
    """The database does not show them; with another secret, they cannot be read."""
    await store.put("acme", kind, "x", b"a secret")
    stored = bytes(await database.scalar(select(documents.c.body)))
    assert b"secret" not in stored
    other = document_store(database, clock, "another secret of 32 characters..")
    with pytest.raises(ServiceUnavailable, match="SWITCHROOM_OLD_TOKEN_SECRETS"):
        await other.get("acme", kind, "x")
