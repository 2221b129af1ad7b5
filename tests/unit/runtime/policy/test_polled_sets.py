"""Stopped accounts and drained nodes, which every engine polls, in virtual time."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from structlog.testing import capture_logs

from engine.runtime.policy.operator_stops import DrainedNodes, StoppedAccounts
from engine.store.errors import StoreDown
from tests.harness.memory_store.documents import MemoryDialPolicyStore
from tests.harness.memory_store.store import MemoryStore
from tests.harness.virtual_time import virtual_time


class StoppedInStore(MemoryDialPolicyStore):
    """Accounts that a test stops, unless the store is down."""

    accounts = frozenset[str]()
    is_down = False

    async def stopped(self) -> frozenset[str]:
        """See DialPolicyStore."""
        if self.is_down:
            raise StoreDown("no route")
        return self.accounts


class DrainedInStore(MemoryStore):
    """Nodes that are drained, unless the store is down."""

    is_down = False

    async def drained(self) -> frozenset[str]:
        """See Store."""
        if self.is_down:
            raise StoreDown("no route")
        return await super().drained()


@asynccontextmanager
async def running(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Poll while the context lasts, in virtual time."""
    task = asyncio.create_task(work)
    await asyncio.sleep(0.1)
    yield
    task.cancel()


@virtual_time
async def test_calls_of_stopped_accounts_are_hung_up() -> None:
    """Again and again, as calls may start meanwhile, also while the store is down."""
    store, hung_up = StoppedInStore(), list[list[str]]()
    stopped = StoppedAccounts(store)

    async def hang_up(accounts: frozenset[str]) -> None:
        hung_up.append(sorted(accounts))

    with capture_logs() as logs:
        async with running(stopped.run(hang_up)):
            assert hung_up == []
            store.accounts = frozenset({"b", "a"})
            await asyncio.sleep(1.0)
            assert (stopped.has("a"), stopped.has("c")) == (True, False)
            store.is_down = True
            await asyncio.sleep(0.5)
            assert hung_up == [["a", "b"]] * 3
            store.is_down, store.accounts = False, frozenset({"b"})
            await asyncio.sleep(0.5)
            assert hung_up[-1] == [*stopped.accounts] == ["b"]
            store.accounts = frozenset()
            await asyncio.sleep(1.0)
            assert len(hung_up) == 4
    assert [(each["event"], each.get("id")) for each in logs] == [
        ("account stopped", "a"), ("account stopped", "b"), ("stopped accounts not read", None),
        ("account started", "a"), ("account started", "b"),
    ]  # fmt: skip


@virtual_time
async def test_drained_nodes_are_known_to_every_engine() -> None:
    """To the one that drains at once, to the others soon; an outage changes nothing."""
    store = DrainedInStore()
    one, other = DrainedNodes(store), DrainedNodes(store)
    with capture_logs() as logs:
        async with running(other.run()):
            await one.set_drained("pbx1", True)
            assert ([*one.nodes], [*other.nodes]) == (["pbx1"], [])
            await asyncio.sleep(0.5)
            assert other.nodes == {"pbx1"}
            store.is_down = True
            await asyncio.sleep(0.5)
            assert other.nodes == {"pbx1"}
            store.is_down = False
            await one.set_drained("pbx1", False)
            await asyncio.sleep(0.5)
            assert other.nodes == frozenset()
    assert [(each["event"], each.get("node")) for each in logs] == [
        ("node drained", "pbx1"), ("node drained", "pbx1"), ("drained nodes not read", None),
        ("node undrained", "pbx1"), ("node undrained", "pbx1"),
    ]  # fmt: skip
