"""A server that lost all data is complete within seconds; a changed route applies at once."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import cast

import msgspec
import pytest
from redis import Redis

from api.accounts.store import Account
from api.documents.plugin import DocumentSlice
from api.documents.tables import collections, documents
from api.jobs.housekeeping import background
from engine.runtime.admission.inbound_routes import InboundRoutes
from engine.store.redis.store import RedisStore
from tests.harness.api.rest import OURS, Rest, run_rest, settings_for
from tests.harness.rpc.scene import RpcScene
from tests.harness.servers.valkey import Valkey
from tests.harness.store.unreliable_memory import UnreliableStore
from tests.harness.until import MAX_WAIT_S, until
from wire.documents.versioned import add_digests, version_digest
from wire.rpc import NumberRoute

ACCOUNTS, ROUTES = 100, 10_000


@pytest.fixture
async def rest(database_url: str, shared_valkey: Valkey, tmp_path: Path) -> AsyncIterator[Rest]:
    """Provide the REST layer with an engine whose store is a real server."""
    with Redis(port=shared_valkey.port) as client:
        client.flushall()
    store = RedisStore(shared_valkey.url, timeout_s=MAX_WAIT_S)
    scene = RpcScene(cast("UnreliableStore", store))  # the test uses what all stores have
    async with AsyncExitStack() as stack:
        stack.push_async_callback(store.close)
        await scene.open(stack, tmp_path)
        yield await stack.enter_async_context(
            run_rest(settings_for(database_url, scene.url), scene)
        )


@pytest.fixture
def slice_of(rest: Rest) -> DocumentSlice:
    """Provide the documents of the REST layer."""
    return rest.services.documents


def route(account: str, host: str = "x.example") -> bytes:
    """Return the route of an account's number."""
    return msgspec.json.encode({"account": account, "action": f"https://{host}/"})


async def add_many(rest: Rest) -> None:
    """Add accounts with many routes, in bulk."""
    now_ms = 2 * (rest.services.now_ms() // 2)
    common = {"kind": "route", "version": now_ms, "is_deleted": False, "changed_ms": 1, "size": 1}
    rows, sums = [], dict[str, int]()
    for number in range(ROUTES):
        account, doc_id = f"a{number % ACCOUNTS}", f"+47{number:08}"
        rows.append({**common, "account_id": account, "id": doc_id, "body": route(account)})
        digest = version_digest(doc_id, now_ms)
        sums[account] = add_digests(sums.get(account, 0), added=digest)
    for account in sums:
        await rest.services.accounts.add(Account(account, account))
    states = [
        {
            "account_id": account,
            "kind": "route",
            "version": now_ms,
            "checksum": checksum,
            "count": ROUTES // ACCOUNTS,
        }
        for account, checksum in sums.items()
    ]
    async with rest.services.database.writing() as connection:
        await connection.execute(collections.insert(), states)
        await connection.execute(documents.insert(), rows)


async def test_an_emptied_server_is_refilled_while_calls_are_live(
    rest: Rest, slice_of: DocumentSlice, shared_valkey: Valkey
) -> None:
    """All routes are there again after FLUSHALL; the next inbound call has its route."""
    await add_many(rest)
    store = rest.scene.store
    routes = InboundRoutes(store, rest.services.now_ms)
    with Redis(port=shared_valkey.port) as client:

        def is_full() -> bool:
            return bool(client.hlen("route:numbers") == ROUTES)

        async with background(slice_of.sync.run()):
            await until(is_full)
            client.flushall()
            await until(is_full)
    found = await routes.find("+4700000077")
    assert found is not None
    assert found.route.account == "a77"
    assert len(await store.documents.versions("a77", "route")) == ROUTES // ACCOUNTS


async def test_a_changed_route_applies_to_the_next_call(
    rest: Rest, slice_of: DocumentSlice
) -> None:
    """Also in an engine that has just read the one before."""
    routes = InboundRoutes(rest.scene.store, rest.services.now_ms)
    for number in range(30):
        await routes.find(OURS)
        body = route("acme", f"x{number}.example")
        await slice_of.store.put("acme", "route", OURS, body)
        await slice_of.sync.push("acme")
        expected = msgspec.json.decode(body, type=NumberRoute)

        async def is_applied(expected: NumberRoute = expected) -> bool:
            found = await routes.find(OURS)
            return found is not None and found.route == expected

        await until(is_applied, every_s=0.005)
