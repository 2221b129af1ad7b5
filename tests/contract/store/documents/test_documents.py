"""Number routes and agents in every store."""

from engine.store.store import MAX_CHANGES, Store
from tests.harness.store.documents import put_agent, put_document, put_route


async def test_routes_are_put_replaced_and_deleted(store: Store) -> None:
    """An inbound number has one route at most."""
    await put_route(store, "+471", b"{1}")
    await put_route(store, "+472", b'"https://x.example/"')
    await put_route(store, "+471", b"{2}")
    assert await store.route("+471") == b"{2}"
    assert await store.route("+472") == b'"https://x.example/"'
    await put_document(store, "", "route", "+471", None)
    assert await store.route("+471") is None


async def test_agents_are_kept_by_account(store: Store) -> None:
    """An agent is put, replaced, listed and deleted within its account only."""
    await put_agent(store, "a1", "1001", b"{1}")
    await put_agent(store, "a1", "sales7", b"{2}")
    await put_agent(store, "a1", "1001", b"{3}")
    assert await store.agent("a1", "1001") == b"{3}"
    assert await store.agents("a1") == {"1001": b"{3}", "sales7": b"{2}"}
    assert await store.agents("a1", ["sales7", "none"]) == {"sales7": b"{2}"}
    assert await store.agents("a1", []) == {}
    assert (await store.agent("a2", "1001"), await store.agents("a2")) == (None, {})
    await put_agent(store, "a1", "1001", None)
    await put_agent(store, "a1", "1001", None)
    assert await store.agents("a1") == {"sales7": b"{2}"}


async def test_changes_of_agents(store: Store) -> None:
    """They are read in order from a position on; each account has its own."""
    await put_agent(store, "a1", "1001", b"{1}")
    changed, position = await store.agent_changes("a1", "")
    assert changed == []
    assert await store.agent_changes("a1", position) == ([], position)
    await put_agent(store, "a2", "1002", b"{1}")
    await put_agent(store, "a1", "1003", b"{1}")
    await put_agent(store, "a1", "1001", None)
    changed, last = await store.agent_changes("a1", position)
    assert changed == ["1003", "1001"]
    assert await store.agent_changes("a1", last) == ([], last)
    assert (await store.agent_changes("a3", ""))[0] == []


async def test_many_changes_of_agents(store: Store) -> None:
    """The oldest are read first, as many as one answer holds."""
    _, position = await store.agent_changes("a1", "")
    for number in range(MAX_CHANGES + 1):
        await put_agent(store, "a1", f"{number}", b"{}")
    changed, position = await store.agent_changes("a1", position)
    assert changed == [f"{number}" for number in range(MAX_CHANGES)]
    assert (await store.agent_changes("a1", position))[0] == [f"{MAX_CHANGES}"]
