"""Calls that come in: found by the dialled number, refused early when there is no room."""

import re
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.leg import Leg
from engine.calls.model.recording import Archive
from engine.calls.model.state import Starting
from engine.runtime.agents.directory import Caller
from engine.runtime.base.ttl_cache import DEFAULT_TTL_MS, Cached, TtlCache
from wire.callback_targets import parse_target
from wire.patterns import CALLER_ID
from wire.rpc import NumberRoute

NO_SUCH_NUMBER = 1  # Q.850, told to the caller as SIP 404
NO_CIRCUIT = 34  # told as 503: try elsewhere, or later
ANSWER_MS = 10_000
LONGEST_NAME = 80


# Names the target of an account's calls that name none; raises StoreDown.
Told = Callable[[str], Awaitable[str | None]]


async def nobody(_account: str) -> str | None:
    """Say that no account is told anything unasked."""
    return None


class Routes(Protocol):
    """Where the routes of numbers are stored."""

    async def route(self, number: str) -> bytes | None:
        """Read what an inbound number runs."""


class IncomingChannel(Struct, frozen=True):
    """A channel that entered our Stasis app from the dialplan."""

    channel: str
    from_: str
    to: str
    is_up: bool = False  # answered in an earlier life that nobody remembers
    endpoint: str = ""  # where it comes from
    agent: Caller = Caller()  # whose endpoint that is


class NumberBook:
    """Routes by number, remembered for a moment."""

    def __init__(
        self,
        routes: Routes,
        now_ms: Callable[[], int],
        fresh_ms: int = DEFAULT_TTL_MS,
        told: Told = nobody,
    ) -> None:
        self._routes = routes
        self._told = told
        self._remembered = TtlCache(self._read, now_ms, fresh_ms)

    def known(self, number: str) -> Cached[NumberRoute | None] | None:
        """Give a number's route if it is remembered."""
        return self._remembered.fresh(number)

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


def arrived(  # noqa: PLR0913, PLR0917 - what a call is made of
    call_id: str,
    arrival: IncomingChannel,
    route: NumberRoute,
    now: int,
    latest_ms: int,
    archive: Archive | None = None,
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
        doing=Starting(route.action, now + ANSWER_MS),
        created_ms=now,
        latest_ms=latest_ms,
        # Whoever calls us chooses what stands there: only a number may be shown to others.
        caller_id=agent.caller_id or (caller if re.search(CALLER_ID, arrival.from_) else ""),
        custom_data=route.custom_data,
        archive=archive,
        recorded=archive is not None and route.is_recorded,
        labels=route.labels,
        target=parse_target(told, "statusCallbackUrl") if told else None,
    )


def _printable(text: str) -> str:
    """Keep what can be shown: a SIP header may hold anything, a terminal should not obey it."""
    return "".join(each for each in text if each.isprintable())[:LONGEST_NAME]
