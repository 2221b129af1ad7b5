"""Routes of inbound numbers."""

from collections.abc import Awaitable, Callable

import msgspec
from msgspec.structs import replace

from engine.common.ttl_cache import DEFAULT_TTL_MS, Cached, TtlCache
from engine.store.store import Store
from wire.rpc import NumberRoute

NO_SUCH_NUMBER = 1  # Q.850, sent to the caller as SIP 404
NO_CIRCUIT = 34  # sent as 503: try elsewhere, or later

# Returns the callback target of an account's calls that name none; raises StoreDown.
DefaultTargetLookup = Callable[[str], Awaitable[str | None]]


async def no_default_target(_account: str) -> str | None:
    return None


class RouteCache:
    """Routes by number, cached for a moment."""

    def __init__(
        self,
        store: Store,
        now_ms: Callable[[], int],
        ttl_ms: int = DEFAULT_TTL_MS,
        default_target: DefaultTargetLookup = no_default_target,
    ) -> None:
        self._store = store
        self._default_target = default_target
        self._cache = TtlCache(self._read, now_ms, ttl_ms)

    def cached(self, number: str) -> Cached[NumberRoute | None] | None:
        """Return a number's route if it is in the cache."""
        return self._cache.get_fresh(number)

    async def find(self, number: str) -> NumberRoute | None:
        """Return a number's route, or else the route of `*`; raises StoreDown and DecodeError."""
        return await self._cache.get(number)

    async def _read(self, number: str) -> NumberRoute | None:
        body = await self._store.route(number) or await self._store.route("*")
        route = msgspec.json.decode(body, type=NumberRoute) if body else None
        if route is not None and route.status_callback_url is None:
            target = await self._default_target(route.account)
            route = replace(route, status_callback_url=target)
        return route
