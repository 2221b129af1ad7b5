"""Routes of inbound numbers, and the calls that they start."""

import re
from collections.abc import Awaitable, Callable

import msgspec
from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.call_states import Starting
from engine.calls.model.leg import Leg
from engine.common.ttl_cache import DEFAULT_TTL_MS, Cached, TtlCache
from engine.runtime.admission.call_settings import NewCall
from engine.runtime.pbx_nodes.node import IncomingChannel
from engine.store.store import Store
from wire.callback_targets import parse_call_target
from wire.patterns import CALLER_ID
from wire.rpc import NumberRoute

NO_SUCH_NUMBER = 1  # Q.850, sent to the caller as SIP 404
NO_CIRCUIT = 34  # sent as 503: try elsewhere, or later
ANSWER_TIMEOUT_MS = 10_000
MAX_NAME_LENGTH = 80

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


def inbound_call(new: NewCall, channel: IncomingChannel, route: NumberRoute) -> Call:
    """Build the call of an incoming channel: it is answered, then its number's action runs."""
    caller, agent, now = _printable(channel.from_), channel.agent, new.created_ms
    target = route.status_callback_url
    return Call(
        id=new.id,
        account=route.account,
        direction="inbound",
        from_=caller,
        to=_printable(channel.to),
        main=channel.channel,
        legs=(Leg(channel.channel, caller, "created", now, agent_id=agent.agent_id or None),),
        state=Starting(route.action, now + ANSWER_TIMEOUT_MS),
        created_ms=now,
        must_end_ms=new.must_end_ms,
        # Callers choose what they send: only a number may be shown to others.
        caller_id=agent.caller_id or (caller if re.search(CALLER_ID, channel.from_) else ""),
        custom_data=route.custom_data,
        recording_destination=new.recording_destination,
        recording_enabled=new.recording_destination is not None and route.is_recorded,
        labels=route.labels,
        callback_target=parse_call_target(target, "statusCallbackUrl") if target else None,
    )


def _printable(text: str) -> str:
    """Drop control characters: a SIP header may hold any, and no terminal should obey them."""
    return "".join(each for each in text if each.isprintable())[:MAX_NAME_LENGTH]
