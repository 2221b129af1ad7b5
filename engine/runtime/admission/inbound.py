"""The reception: calls that come in, taken in by their number's route, or refused early."""

import asyncio
from collections.abc import Set as AbstractSet

import msgspec
import structlog
from msgspec.structs import replace

from engine.calls.model.events import LegAnswered
from engine.calls.model.ids import call_id
from engine.observe.metrics import Metrics
from engine.runtime.admission.placement import ENGINE_CODES, NODE_CODES, Placement
from engine.runtime.admission.routes import (
    NO_CIRCUIT,
    NO_SUCH_NUMBER,
    DefaultTargetLookup,
    RouteCache,
    RouteStore,
    inbound_call,
    no_default_target,
)
from engine.runtime.admission.settings import CallIds, CallSettings
from engine.runtime.agents.directory import Caller, Directory
from engine.runtime.base.clock import Clock
from engine.runtime.nodes.incoming import IncomingChannel
from engine.runtime.shard.shard import CallShard
from engine.store.errors import StoreDown
from wire.rpc import NumberRoute

log = structlog.get_logger()
BAD_ROUTE = "bad_route"  # what is stored for a number, that is


class InboundCalls:
    """Takes in what the nodes offer."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        routes: RouteStore,
        clock: Clock,
        placement: Placement,
        *,
        rules: CallSettings,
        tails: CallIds,
        directory: Directory | None = None,
        meter: Metrics | None = None,
        told: DefaultTargetLookup = no_default_target,
        going: AbstractSet[int] = frozenset(),
    ) -> None:
        self._going = going  # slots that are being handed over
        self._clock = clock
        self._placement = placement
        self._book = RouteCache(routes, clock.now_ms, told=told)
        self._rules = rules
        self._tails = tails
        self._directory = directory
        self._refused = (meter or Metrics()).calls.rejected.table("inbound")
        for code in (*NODE_CODES, *ENGINE_CODES, BAD_ROUTE):
            self._refused[code] += 0  # shown from the start, as alerts watch them
        self._tasks: set[asyncio.Task[None]] = set()

    def handle(self, desk: CallShard, arrival: IncomingChannel) -> None:
        """Take a call in, refuse it early, or leave it to who has its slot next."""
        if self._is_the_heirs(desk):
            return
        obstacle = self._placement.admit(desk, by_trunk=not self._may_be_agents(arrival))
        if obstacle is not None:
            log.debug("call refused", node=desk.context.node, code=obstacle.code)
            self._turn_away(desk, arrival, obstacle.code, NO_CIRCUIT)
            return
        known = self._book.cached(arrival.to)
        caller = self._known_caller(arrival, known.value) if known else None
        if known and caller is not None:
            self._admit(desk, replace(arrival, agent=caller), known.value)
            return
        task = asyncio.get_running_loop().create_task(self._find(desk, arrival))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _is_the_heirs(self, desk: CallShard) -> bool:
        """Tell whether a call could be answered here and never stored; it waits in Stasis."""
        return desk.context.slot in self._going or not desk.context.lease.holds

    def _may_be_agents(self, arrival: IncomingChannel) -> bool:
        return self._directory is not None and not self._directory.is_trunk(arrival.endpoint)

    def _known_caller(self, arrival: IncomingChannel, route: NumberRoute | None) -> Caller | None:
        if self._directory is None or route is None:
            return arrival.agent
        return self._directory.known_caller(route.account, arrival.endpoint)

    async def _find(self, desk: CallShard, arrival: IncomingChannel) -> None:
        try:
            route = await self._book.find(arrival.to)
        except StoreDown:
            self._turn_away(desk, arrival, "store_down", NO_CIRCUIT)
            return
        except msgspec.DecodeError as error:
            # As another version wrote it: an engine of that version may take the call.
            log.warning("a route can't be read", number=arrival.to, error=str(error))
            self._turn_away(desk, arrival, BAD_ROUTE, NO_CIRCUIT)
            return
        if route is not None and self._directory is not None:
            agent = await self._directory.agent_of(route.account, arrival.endpoint)
            arrival = replace(arrival, agent=agent)
        self._admit(desk, arrival, route)

    def _admit(self, desk: CallShard, arrival: IncomingChannel, route: NumberRoute | None) -> None:
        place = desk.context
        if self._is_the_heirs(desk) or desk.find_by_channel(arrival.channel) is not None:
            return  # told twice, by its event and by a recovery, while its route was being read
        if route is None:
            log.warning("no route", number=arrival.to, node=place.node, slot=place.slot)
            self._turn_away(desk, arrival, "no_route", NO_SUCH_NUMBER)
            return
        now = self._clock.now_ms()
        chosen = call_id(place.slot, place.node, self._tails.new(now))
        archive = self._rules.archive(place, route.account, now)
        latest_ms = now + self._rules.max_duration_ms
        actor = desk.start_call(inbound_call(chosen, arrival, route, now, latest_ms, archive))
        if route.is_recorded and archive is None:
            log.error("not recorded: there is no archive", call_id=chosen)
        if arrival.is_up:
            desk.feed(actor, LegAnswered(arrival.channel))

    def _turn_away(self, desk: CallShard, arrival: IncomingChannel, code: str, cause: int) -> None:
        self._refused[code] += 1
        desk.context.hang_up_channel(arrival.channel, cause)
