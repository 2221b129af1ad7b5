"""A store that has an old snapshot, with many accounts: what it lacks was changed last."""

import copy

import msgspec
from sqlalchemy import insert

from api.accounts.store import accounts
from api.documents.plugin import DocumentSlice
from tests.harness.api.rest import Rest

ACCOUNTS = 460  # more than are compared at a time
CHANGED = 260  # the last ones, which are not in the first comparison of all


def route(account: str, path: str = "") -> bytes:
    """Return the route of an account's number."""
    return msgspec.json.encode({"account": account, "action": f"https://x.example/{path}"})


async def add_accounts(rest: Rest, names: list[str]) -> None:
    """Add accounts in bulk."""
    lists: dict[str, list[str]] = {"denied": [], "number_types": [], "trunks": []}
    common = {"is_active": True, "created_ms": 1, **lists}
    rows = [{"id": each, "name": each, **common} for each in names]
    async with rest.services.database.writing() as connection:
        await connection.execute(insert(accounts), rows)


async def test_what_was_changed_last_is_compared_first(
    kept: Rest, documents: DocumentSlice
) -> None:
    """The first comparison finds that the store is old, and completes it, however old it is."""
    names = [f"x{number:04}" for number in range(ACCOUNTS)]
    await add_accounts(kept, names)
    changed = names[-CHANGED:]
    for place, name in enumerate(changed):
        await documents.store.put(name, "route", f"+47{place:08}", route(name))
    await documents.sync.compare_all()
    store = kept.scene.store
    old = copy.deepcopy(store.documents)
    await documents.store.put(names[-1], "route", f"+47{CHANGED - 1:08}", route(names[-1], "new"))
    await documents.sync.push(names[-1])
    store.documents = old
    await documents.sync.compare_next()
    assert await store.route(f"+47{CHANGED - 1:08}") == route(names[-1], "new")
    old = copy.deepcopy(store.documents)
    for place, name in enumerate(changed):
        await documents.store.put(name, "route", f"+47{place:08}", route(name, "newer"))
    await documents.sync.compare_all()
    store.documents = old
    await documents.sync.compare_next()
    routes = await store.routes()
    assert [routes[f"+47{place:08}"] for place in range(CHANGED)] == [
        route(name, "newer") for name in changed
    ]
