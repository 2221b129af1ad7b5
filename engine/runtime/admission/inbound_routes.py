"""Routes of inbound numbers."""

from collections.abc import Awaitable, Callable

from msgspec import Struct
from msgspec.structs import replace

from base.ttl_cache import Cached, TtlCache
from engine.store.store import Store
from wire.callbacks.targets import AUTO_SET
from wire.decoding.messages import decode_message
from wire.phone_numbers.e164 import spellings
from wire.phone_numbers.international_form import international
from wire.rpc import NumberRoute

TTL_MS = 150  # a changed route applies within 300 ms; at most a read for each call
NO_SUCH_NUMBER = 1  # Q.850, sent to the caller as SIP 404
NO_CIRCUIT = 34  # sent as 503: try elsewhere, or later

# Returns the callback target of an account's calls that name none; raises StoreDown.
DefaultTargetLookup = Callable[[str], Awaitable[str | None]]


async def no_default_target(_account: str) -> str | None:
    return None


class FoundRoute(Struct, frozen=True):
    """A route, and the spelling of the dialled number that it is stored under."""

    number: str
    route: NumberRoute


class InboundRoutes:
    """Routes by number, cached for a moment."""

    def __init__(
        self,
        store: Store,
        now_ms: Callable[[], int],
        ttl_ms: int = TTL_MS,
        default_target: DefaultTargetLookup = no_default_target,
    ) -> None:
        self._store = store
        self._default_target = default_target
        self._cache = TtlCache(self._read, now_ms, ttl_ms)

    def cached(self, number: str) -> Cached[FoundRoute | None] | None:
        """Return a number's route if it is in the cache."""
        return self._cache.get_fresh(number)

    async def find(self, number: str) -> FoundRoute | None:
        """Return a number's route, or else the route of `*`; raises StoreDown and DecodeError.

        A number has one route, however a carrier spells it: with +, with 00 or without both.
        """
        return await self._cache.get(number)

    async def _read(self, number: str) -> FoundRoute | None:
        for spelling in spellings(number):
            if body := await self._store.route(spelling):
                return await self._decode(spelling, body)
        body = await self._store.route("*")
        return await self._decode(international(number, ""), body) if body else None

    async def _decode(self, number: str, body: bytes) -> FoundRoute:
        route = decode_message(body, NumberRoute)
        if route.status_callback_url in {None, AUTO_SET}:
            target = await self._default_target(route.account)
            route = replace(route, status_callback_url=target)
        return FoundRoute(number, route)
