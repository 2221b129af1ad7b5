"""The switch: all desks of an engine, calls made and taken in, and what can be asked of them."""

import asyncio
import os
from collections.abc import Callable
from datetime import UTC, datetime

import structlog
from msgspec import Struct
from msgspec.structs import replace

from engine.calls.call import Call
from engine.calls.codec import decode_record
from engine.calls.events import Control, Event, HangupRequested, LegAnswered
from engine.calls.ids import call_id, slot_and_node, slot_of
from engine.calls.refusals import Refusal, refused
from engine.calls.tape import Archive
from engine.runtime.actor import Actor
from engine.runtime.agents import Directory
from engine.runtime.clock import Clock
from engine.runtime.desk import Desk
from engine.runtime.inbound import NO_CIRCUIT, NO_SUCH_NUMBER, Arrival, NumberBook, arrived
from engine.runtime.node import Node
from engine.runtime.outbound import originated
from engine.runtime.placement import Gate
from engine.runtime.steering import Refused
from engine.runtime.takeover import Stored
from engine.store.errors import StoreDown
from engine.store.store import Store
from wire.rpc import NumberRoute, Originate

log = structlog.get_logger()
STORED_WITHIN_S = 5
TRIES = 256  # the only one of 64 slots that is ours is missed once in 50 times


class NoRoom(Exception):
    """No new call can begin now: why, and when to ask again."""

    def __init__(self, code: str, detail: str, retry_after_s: int = 1) -> None:
        super().__init__(detail)
        self.code = code
        self.retry_after_s = retry_after_s


class Elsewhere(Exception):
    """Another engine has the slot that this is about; None: any that has one."""

    def __init__(self, slot: int | None) -> None:
        super().__init__(f"slot {slot} is another engine's")
        self.slot = slot


class Rules(Struct, frozen=True):
    """What holds for every call: how many slots there are, how long it may live, what it shows."""

    slots: int
    longest_ms: int
    caller_id: str = ""
    recordings: str = ""  # the address that recordings are told below; none are kept without


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
    ) -> None:
        self.nodes: dict[str, Node] = {}
        self._store = store
        self._clock = clock
        self._gate = gate
        self._book = NumberBook(store, clock.now_ms)
        self._rules = rules
        self._directory = directory
        self._random_bytes = random_bytes
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def live(self) -> int:
        """How many calls live in this engine."""
        return sum(node.live for node in self.nodes.values())

    async def originate(self, asked: Originate) -> Call:
        """Start a call and return it once it is stored; raises NoRoom, StoreDown."""
        if asked.request_id and (known := await self._existing(asked.request_id)):
            return known
        now = self._clock.now_ms()
        tail = asked.request_id or self._heard_tail(now)
        slot = slot_of(tail, self._rules.slots)
        if not self._has(slot):
            raise Elsewhere(slot if asked.request_id else None)
        desk = self._free_desk(asked.node, slot)
        chosen = call_id(desk.place.slot, desk.place.node, tail)
        latest_ms = now + self._rules.longest_ms
        stored = asyncio.Event()
        archive = self._archive(desk, asked.account, now)
        if asked.is_recorded and archive is None:
            raise NoRoom("no_archive", "recordings can't be kept: see recordings_url, ami_password")
        shown = self._rules.caller_id
        actor = desk.open(originated(chosen, asked, now, latest_ms, shown, archive), stored.set)
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
        if desk.is_held:
            raise NoRoom("node_away", f"PBX node {desk.place.node} can't be heard now")
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
        return any(slot in node.desks for node in self.nodes.values())

    def arrive(self, desk: Desk, arrival: Arrival) -> None:
        """Take a call in, or refuse it early."""
        has_room = desk.can_store and not self.nodes[desk.place.node].is_strained
        if not (has_room and self._gate.admits(self.live)):
            desk.dismiss(arrival.channel, NO_CIRCUIT)
            return
        is_known, route = self._book.known(arrival.to)
        if is_known and not self._may_be_agents(arrival):
            self._admit(desk, arrival, route)
            return
        task = asyncio.get_running_loop().create_task(self._find(desk, arrival))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

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
        if desk.is_held and desk.place.lease.holds:
            desk.feed(actor, HangupRequested(by))
        else:
            await _fed(desk, actor, HangupRequested(by))
        return True

    def adopt(self, stored: Stored, slot: int) -> None:
        """Take up a stored call; its desk goes on with it once its node is back."""
        record = stored.record
        if node := self.nodes.get(stored.node):
            desk = node.desks[slot]
            desk.prefetch(desk.adopt(Actor(record.call, record.outbox, record.logged)))
        else:
            log.error("a call's node is not configured", call_id=record.call.id, node=stored.node)

    async def _existing(self, request_id: str) -> Call | None:
        slot = slot_of(request_id, self._rules.slots)
        ids = [call_id(slot, name, request_id) for name in self.nodes]
        stored = [await self.read(each) for each in ids]
        # Asked again without a pause in between: the same request may have come twice at once.
        live = [found[1].call for each in ids if (found := self.find(each))]
        return next((call for call in [*live, *stored] if call), None)

    def _free_desk(self, node: str | None, slot: int) -> Desk:
        chosen = self._least_loaded(node, slot)
        desk = chosen.desks[slot]
        if not desk.can_store:
            raise NoRoom("store_down", "calls can't be stored now")
        if chosen.is_strained or not self._gate.admits(self.live):
            raise NoRoom("overloaded", "no room for another call now")
        return desk

    def _least_loaded(self, name: str | None, slot: int) -> Node:
        # Asterisk drops a leg made in an app that nobody listens to: this slot must be heard.
        heard = (n for n in self.nodes.values() if not n.desks[slot].is_held)
        nodes = [n for n in heard if name in {None, n.name}]
        if not nodes:
            away = ", ".join(sorted(self.nodes)) or "none configured"
            raise NoRoom("no_node", f"no PBX node is connected ({away})", 5)
        return min(nodes, key=lambda node: (node.is_strained, node.live))

    def _may_be_agents(self, arrival: Arrival) -> bool:
        return self._directory is not None and not self._directory.is_trunk(arrival.endpoint)

    async def _find(self, desk: Desk, arrival: Arrival) -> None:
        try:
            route = await self._book.find(arrival.to)
        except StoreDown:
            desk.dismiss(arrival.channel, NO_CIRCUIT)
            return
        if route is not None and self._directory is not None:
            agent = await self._directory.agent_of(route.account, arrival.endpoint)
            arrival = replace(arrival, agent=agent)
        self._admit(desk, arrival, route)

    def _admit(self, desk: Desk, arrival: Arrival, route: NumberRoute | None) -> None:
        if desk.route(arrival.channel) is not None:
            return  # told twice, by its event and by a recovery, while its route was being read
        if route is None:
            log.warning("no route for a number", number=arrival.to, node=desk.place.node)
            desk.dismiss(arrival.channel, NO_SUCH_NUMBER)
            return
        now, place = self._clock.now_ms(), desk.place
        chosen = call_id(place.slot, place.node, self._tail(now))
        archive = self._archive(desk, route.account, now)
        latest_ms = now + self._rules.longest_ms
        actor = desk.open(arrived(chosen, arrival, route, now, latest_ms, archive))
        if route.is_recorded and archive is None:
            log.error("not recorded: there is no archive", call_id=chosen)
        if arrival.is_up:
            desk.feed(actor, LegAnswered(arrival.channel))

    def _archive(self, desk: Desk, account: str, now_ms: int) -> Archive | None:
        """Choose where a call's recordings will be filed, if they can be."""
        if desk.place.tapes is None or not self._rules.recordings:
            return None
        day = datetime.fromtimestamp(now_ms / 1000, UTC).date()
        return Archive(self._rules.recordings, f"{account}/{day}")

    def _heard_tail(self, now_ms: int) -> str:
        """Choose an id that falls to a slot which some node can be heard on, if there is one."""
        tails = (self._tail(now_ms) for _ in range(TRIES))
        return next((each for each in tails if self._is_heard(each)), self._tail(now_ms))

    def _is_heard(self, tail: str) -> bool:
        slot = slot_of(tail, self._rules.slots)
        desks = (node.desks.get(slot) for node in self.nodes.values())
        return any(desk is not None and not desk.is_held for desk in desks)

    def _tail(self, now_ms: int) -> str:
        return f"{now_ms:011x}{self._random_bytes(6).hex()}"


async def _fed(desk: Desk, actor: Actor, event: Event) -> None:
    if desk.is_held:
        raise NoRoom("node_away", f"PBX node {desk.place.node} can't be heard now")
    stored = asyncio.Event()
    desk.feed(actor, event, stored.set)
    await _told(stored, f"call {actor.call.id} took it, and it is not stored yet")


async def _told(stored: asyncio.Event, otherwise: str) -> None:
    try:
        async with asyncio.timeout(STORED_WITHIN_S):
            await stored.wait()
    except TimeoutError:
        raise StoreDown(otherwise) from None
