"""The switch: all desks of an engine, calls made and taken in, and what can be asked of them."""

import asyncio
import os
from collections.abc import Callable
from functools import cache, partial

import structlog

from engine.calls.call import Call
from engine.calls.codec import decode_record
from engine.calls.events import Control, Event, HangupRequested
from engine.calls.ids import call_id, slot_and_node, slot_of
from engine.calls.refusals import Refusal, refused
from engine.observe.meter import Meter
from engine.runtime.actor import Actor
from engine.runtime.agents import Directory
from engine.runtime.clock import Clock
from engine.runtime.desk import Desk
from engine.runtime.drains import Drains
from engine.runtime.gate import Gate
from engine.runtime.inbound import Arrival, Told, nobody
from engine.runtime.limits import Others, is_by_trunk
from engine.runtime.node import Node
from engine.runtime.outbound import first_party, originated
from engine.runtime.placement import NoRoom, Placement
from engine.runtime.reception import Reception
from engine.runtime.rules import Rules, Tails
from engine.runtime.steering import Refused
from engine.runtime.takeover import Stored
from engine.store.errors import StoreDown
from engine.store.store import Store
from wire.rpc import Originate
from wire.targets import parse_target

log = structlog.get_logger()
STORED_WITHIN_S = 5
TRIES = 256  # the only one of 64 slots that is ours is missed once in 50 times


class Elsewhere(Exception):
    """Another engine has the slot that this is about; None: any that has one."""

    def __init__(self, slot: int | None) -> None:
        super().__init__(f"slot {slot} is another engine's")
        self.slot = slot


class Switch:
    """What the RPC and the nodes call; holds no call itself, the desks do."""

    def __init__(  # noqa: PLR0913, PLR0917 - collaborators are passed in
        self,
        store: Store,
        clock: Clock,
        gate: Gate,
        rules: Rules,
        random_bytes: Callable[[int], bytes] = os.urandom,
        directory: Directory | None = None,
        others: Others | None = None,
        meter: Meter | None = None,
        told: Told = nobody,
    ) -> None:
        meter = meter or Meter()
        self._told = told
        self.follow: Callable[[str], None] = _untraced  # hears which call a request is about
        self.going: set[int] = set()  # slots that are being handed over: not ours, for who asks
        self.placement = Placement(gate, clock, rules.trunk, others, meter)
        self.drains = Drains(store)
        self.placement.drained = lambda: self.drains.nodes
        self._store = store
        self._clock = clock
        self._rules = rules
        self._tails = Tails(random_bytes)
        self._reception = Reception(
            store,
            clock,
            self.placement,
            rules=rules,
            tails=self._tails,
            directory=directory,
            meter=meter,
            told=told,
        )

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes, by name."""
        return self.placement.nodes

    @property
    def live(self) -> int:
        """How many calls live in this engine."""
        return self.placement.live

    def slots(self) -> set[int]:
        """Tell which slots are this engine's."""
        return {slot for node in self.nodes.values() for slot in node.desks}

    async def originate(self, asked: Originate) -> Call:
        """Start a call and return it once it is stored; raises NoRoom, StoreDown."""
        if asked.request_id and (known := await self._existing(asked.request_id)):
            return known
        now = self._clock.now_ms()
        tail = asked.request_id or self._heard_tail(asked, now)
        slot = slot_of(tail, self._rules.slots)
        if not self._has(slot):
            raise Elsewhere(slot if asked.request_id else None)
        told = asked.status_callback_url or await self._told(asked.account)
        target = parse_target(told, "statusCallbackUrl") if told else None
        desk = self.placement.choose(asked.node, slot, by_trunk=is_by_trunk(first_party(asked)))
        chosen = call_id(desk.place.slot, desk.place.node, tail)
        self.follow(chosen)
        latest_ms = now + self._rules.longest_ms
        stored = asyncio.Event()
        archive = self._rules.archive(desk.place, asked.account, now)
        if asked.is_recorded and archive is None:
            raise NoRoom("no_archive", "recordings can't be kept: see recordings_url, ami_password")
        shown = self._rules.caller_id
        call = originated(chosen, asked, now, latest_ms, shown, archive, target)
        actor = desk.open(call, stored.set)
        # It begins as soon as the store is back: say so rather than let it be asked twice.
        await _told(stored, f"call {chosen} is not stored yet")
        return actor.call

    async def steer(self, call: str, event: Control) -> Call:
        """Ask something of a live call and return it once that is stored.

        Raises Refused, NoRoom while its node or the store is away, StoreDown when that takes long.
        """
        desk, actor = self.find(call) or (None, None)
        if desk is None or actor is None:
            self.check_ours(call)
            raise Refused(Refusal("conflict", "call_ended", f"call {call} is not live here"))
        if refusal := refused(actor.call, event):
            raise Refused(refusal)
        self._check_heard(desk)
        self.follow(call)
        stored = asyncio.Event()
        desk.feed(actor, event, stored.set)
        after = actor.call  # what others ask meanwhile may not be stored yet
        await _told(stored, f"call {call} took it, and it is not stored yet")
        return after

    def check_ours(self, call: str) -> None:
        """Raise Elsewhere when a call's slot is not this engine's."""
        slot, node = slot_and_node(call) or (-1, "")
        if node in self.nodes and not self._has(slot):
            raise Elsewhere(slot)

    def _has(self, slot: int) -> bool:
        return slot not in self.going and any(slot in n.desks for n in self.nodes.values())

    def _check_heard(self, desk: Desk) -> None:
        """Raise Elsewhere when a desk is being handed over, NoRoom when its node is away."""
        if desk.place.slot in self.going:
            raise Elsewhere(desk.place.slot)
        if desk.is_held:
            raise NoRoom("node_away", f"PBX node {desk.place.node} can't be heard now")

    def arrive(self, desk: Desk, arrival: Arrival) -> None:
        """Take a call in, or refuse it early."""
        self._reception.arrive(desk, arrival)

    def find(self, call: str) -> tuple[Desk, Actor] | None:
        """Find a live call of this engine."""
        where = slot_and_node(call)
        node = self.nodes.get(where[1]) if where else None
        desk = node.desks.get(where[0]) if node and where else None
        actor = desk.actors.get(call) if desk else None
        return (desk, actor) if desk and actor else None

    async def read(self, call: str) -> Call | None:
        """Read a call, live or ended; raises StoreDown."""
        if found := self.find(call):
            return found[1].call
        where = slot_and_node(call)
        state = await self._store.read(where[0], call) if where else None
        return decode_record(state).call if state else None

    async def hang_up(self, call: str, by: str) -> bool:
        """End a live call; False when it is not live here.

        Stored when this returns, or, while its node is away, kept for later. Raises NoRoom once the
        slot may be another's, StoreDown when storing takes long.
        """
        desk, actor = self.find(call) or (None, None)
        if desk is None or actor is None:
            self.check_ours(call)
            return False
        if desk.is_held and desk.place.lease.holds and desk.place.slot not in self.going:
            desk.feed(actor, HangupRequested(by))
        else:
            self._check_heard(desk)
            await _fed(desk, actor, HangupRequested(by))
        return True

    def adopt(self, stored: Stored, slot: int) -> None:
        """Take up a stored call; its desk goes on with it once its node is back."""
        record = stored.record
        desk = self.nodes[stored.node].desks[slot]
        desk.prefetch(desk.adopt(Actor(record.call, record.outbox, record.logged)))

    async def _existing(self, request_id: str) -> Call | None:
        slot = slot_of(request_id, self._rules.slots)
        ids = [call_id(slot, name, request_id) for name in self.nodes]
        stored = [await self.read(each) for each in ids]
        # Asked again without a pause in between: the same request may have come twice at once.
        live = [found[1].call for each in ids if (found := self.find(each))]
        return next((call for call in [*live, *stored] if call), None)

    def _heard_tail(self, asked: Originate, now_ms: int) -> str:
        """Choose an id that falls to a slot in which the call can begin, if there is one."""
        by_trunk = is_by_trunk(first_party(asked))
        has_room = cache(partial(self.placement.has_room, asked.node, by_trunk=by_trunk))
        ours = self.slots()
        return (
            self._tail_in(has_room, now_ms)
            or self._tail_in(ours.__contains__, now_ms)
            or self._tails.new(now_ms)
        )

    def _tail_in(self, fits: Callable[[int], bool], now_ms: int) -> str | None:
        """Find an id whose slot fits, if that does not take too many tries."""
        tails = (self._tails.new(now_ms) for _ in range(TRIES))
        return next((each for each in tails if fits(slot_of(each, self._rules.slots))), None)


def _untraced(_call: str) -> None:
    """Leave no trace."""


async def _fed(desk: Desk, actor: Actor, event: Event) -> None:
    stored = asyncio.Event()
    desk.feed(actor, event, stored.set)
    await _told(stored, f"call {actor.call.id} took it, and it is not stored yet")


async def _told(stored: asyncio.Event, otherwise: str) -> None:
    try:
        async with asyncio.timeout(STORED_WITHIN_S):
            await stored.wait()
    except TimeoutError:
        raise StoreDown(otherwise) from None
