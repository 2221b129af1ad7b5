"""The switch: all desks of an engine, calls made and taken in, and what can be asked of them."""

import os
from collections.abc import Callable

from engine.calls.model.call import Call
from engine.calls.model.codec import decode_record
from engine.calls.model.ids import slot_and_node
from engine.calls.model.requests import Asked, Control, HangupRequested
from engine.calls.sessions.preconditions import Refusal, refused
from engine.observe.metrics import Meter
from engine.runtime.admission.inbound import Reception
from engine.runtime.admission.limits import Gate, Others
from engine.runtime.admission.outbound import Maker
from engine.runtime.admission.placement import NoRoom, Placement
from engine.runtime.admission.routes import IncomingChannel, Told, nobody
from engine.runtime.admission.settings import Rules, Tails
from engine.runtime.agents.directory import Directory
from engine.runtime.base.clock import Clock
from engine.runtime.nodes.drains import DrainedNodes
from engine.runtime.nodes.node import Node
from engine.runtime.ownership.takeover import StoredCall
from engine.runtime.shard.actor import Actor
from engine.runtime.shard.commit_ack import (
    NotOwner,
    RequestRejected,
    awaiting_commit,
    wait_connected,
)
from engine.runtime.shard.shard import CallShard
from engine.store.store import Store
from wire.rpc import Originate


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
        self.follow: Callable[[str], None] = _untraced  # hears which call a request is about
        self.going: set[int] = set()  # slots that are being handed over: not ours, for who asks
        self.placement = Placement(gate, clock, rules.trunk, others, meter)
        self.drains = DrainedNodes(store)
        self.placement.drained = lambda: self.drains.nodes
        self._store = store
        self._slots = rules.slots
        tails = Tails(random_bytes)
        self._maker = Maker(self, clock, rules, tails, told)
        self._reception = Reception(
            store,
            clock,
            self.placement,
            rules=rules,
            tails=tails,
            directory=directory,
            meter=meter,
            told=told,
            going=self.going,
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
        """Start a call and return it once it is stored; raises NoRoom, Elsewhere, StoreDown."""
        return await self._maker.originate(asked)

    async def steer(self, call: str, event: Control) -> Call:
        """Ask something of a live call and return it once that is stored.

        Raises Refused, NoRoom while its node or the store is away, StoreDown when that takes long.
        """
        desk, actor = self.find(call) or (None, None)
        if desk is None or actor is None:
            self.check_ours(call)
            raise RequestRejected(
                Refusal("conflict", "call_ended", f"call {call} is not live here")
            )
        if not desk.is_held:
            desk.hear_out(actor)
        if refusal := refused(actor.call, event):
            raise RequestRejected(refusal)
        self._check_owned(desk)
        if desk.is_held:
            raise NoRoom("node_away", f"PBX node {desk.place.node} can't be heard now")
        return await self._asked(desk, actor, event)

    async def heard(self, call: str) -> None:
        """Give the node of a live call a moment, when it is being looked at."""
        desk, _ = self.find(call) or (None, None)
        if desk is not None and desk.is_held and desk.place.slot not in self.going:
            await wait_connected(desk.standstill.over)

    def check_ours(self, call: str) -> None:
        """Raise Elsewhere when a call's slot is not this engine's."""
        slot, node = slot_and_node(call) or (-1, "")
        if node in self.nodes and slot < self._slots and not self.has(slot):
            raise NotOwner(slot)

    def has(self, slot: int) -> bool:
        """Tell whether a slot is this engine's, and stays it."""
        return slot not in self.going and any(slot in n.desks for n in self.nodes.values())

    def arrive(self, desk: CallShard, arrival: IncomingChannel) -> None:
        """Take a call in, or refuse it early."""
        self._reception.arrive(desk, arrival)

    def find(self, call: str) -> tuple[CallShard, Actor] | None:
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
        """End a live call, also while its node is away; False when it is not live here.

        Stored when this returns, so that it is not forgotten, whoever has the slot then. Raises
        NoRoom once the slot may be another's, StoreDown when storing takes long.
        """
        desk, actor = self.find(call) or (None, None)
        if desk is None or actor is None:
            self.check_ours(call)
            return False
        self._check_owned(desk)
        desk.hear_out(actor)
        await self._asked(desk, actor, HangupRequested(by))
        return True

    def adopt(self, stored: StoredCall, slot: int) -> None:
        """Take up a stored call; its desk goes on with it once its node is back."""
        record = stored.record
        desk = self.nodes[stored.node].desks[slot]
        desk.prefetch(desk.adopt(Actor(record.call, record.outbox, record.logged)))

    def _check_owned(self, desk: CallShard) -> None:
        """Raise Elsewhere when a desk is being handed over, NoRoom when it may be another's."""
        if desk.place.slot in self.going:
            raise NotOwner(desk.place.slot)
        if not desk.place.lease.holds:
            raise NoRoom("no_owner", "the call's engine can't be sure of its slot now")

    async def _asked(self, desk: CallShard, actor: Actor, event: Asked) -> Call:
        """Give a call what is asked of it, and give it as it then is, once that is stored."""
        self.follow(actor.call.id)
        with awaiting_commit(desk.promises) as promise:
            desk.ask(actor, event, promise.stored)
            after = actor.call  # what others ask meanwhile may not be stored yet
            await promise.kept(f"call {after.id} took it, and it is not stored yet")
        return after


def _untraced(_call: str) -> None:
    """Leave no trace."""
