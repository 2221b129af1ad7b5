"""Numbers in development: their routes let a developer's machine answer webhooks."""

import msgspec

from engine.store.store import Store
from tests.harness.store.documents import put_route
from wire.rpc import NumberRoute


async def allow_listeners(
    store: Store, number: str, account: str = "acme", *, is_allowed: bool = True
) -> None:
    """Store a route that allows listeners, or one that does not."""
    route = NumberRoute(account, "https://a.example/", allow_listeners=is_allowed)
    await put_route(store, number, msgspec.json.encode(route))
