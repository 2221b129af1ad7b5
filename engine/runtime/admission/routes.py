"""Calls that come in: found by the dialled number, refused early when there is no room."""

import re
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec
from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.leg import Leg
from engine.calls.model.recording import RecordingDestination
from engine.calls.model.state import Starting
from engine.runtime.base.ttl_cache import DEFAULT_TTL_MS, Cached, TtlCache
from engine.runtime.nodes.incoming import IncomingChannel
from wire.callback_targets import parse_call_target
from wire.patterns import CALLER_ID
from wire.rpc import NumberRoute

NO_SUCH_NUMBER = 1  # Q.850, told to the caller as SIP 404
NO_CIRCUIT = 34  # told as 503: try elsewhere, or later
ANSWER_TIMEOUT_MS = 10_000
MAX_NAME_LENGTH = 80


# Names the target of an account's calls that name none; raises StoreDown.
DefaultTargetLookup = Callable[[str], Awaitable[str | None]]


async def no_default_target(_account: str) -> str | None:
    """Say that no account is told anything unasked."""
    return None


class RouteStore(Protocol):
    """Where the routes of numbers are stored."""

    async def route(self, number: str) -> bytes | None:
        """Read what an inbound number runs."""


class RouteCache:
    """Routes by number, remembered for a moment."""

    def __init__(
        self,
        routes: RouteStore,
        now_ms: Callable[[], int],
        fresh_ms: int = DEFAULT_TTL_MS,
        told: DefaultTargetLookup = no_default_target,
    ) -> None:
        self._routes = routes
        self._told = told
        self._remembered = TtlCache(self._read, now_ms, fresh_ms)

    def cached(self, number: str) -> Cached[NumberRoute | None] | None:
        """Give a number's route if it is remembered."""
        return self._remembered.get_fresh(number)

    async def find(self, number: str) -> NumberRoute | None:
        """Give a number's route, or else the route of `*`; raises StoreDown and DecodeError."""
        return await self._remembered.get(number)

    async def _read(self, number: str) -> NumberRoute | None:
        body = await self._routes.route(number) or await self._routes.route("*")
        route = msgspec.json.decode(body, type=NumberRoute) if body else None
        if route is not None and route.status_callback_url is None:
            told = await self._told(route.account)
            route = replace(route, status_callback_url=told)
        return route


def inbound_call(  # noqa: PLR0913, PLR0917 - what a call is made of
    call_id: str,
    arrival: IncomingChannel,
    route: NumberRoute,
    now: int,
    latest_ms: int,
    archive: RecordingDestination | None = None,
) -> Call:
    """Make the call of an arrival: it is answered, then its number's action runs."""
    caller, agent = _printable(arrival.from_), arrival.agent
    told = route.status_callback_url
    return Call(
        id=call_id,
        account=route.account,
        direction="inbound",
        from_=caller,
        to=_printable(arrival.to),
        main=arrival.channel,
        legs=(Leg(arrival.channel, caller, "created", now, agent_id=agent.agent_id or None),),
        state=Starting(route.action, now + ANSWER_TIMEOUT_MS),
        created_ms=now,
        must_end_ms=latest_ms,
        # Whoever calls us chooses what stands there: only a number may be shown to others.
        caller_id=agent.caller_id or (caller if re.search(CALLER_ID, arrival.from_) else ""),
        custom_data=route.custom_data,
        recording_destination=archive,
        recording_enabled=archive is not None and route.is_recorded,
        labels=route.labels,
        callback_target=parse_call_target(told, "statusCallbackUrl") if told else None,
    )


def _printable(text: str) -> str:
    """Keep what can be shown: a SIP header may hold anything, a terminal should not obey it."""
    return "".join(each for each in text if each.isprintable())[:MAX_NAME_LENGTH]
