"""The switch: all desks of an engine, calls made and taken in, and what can be asked of them."""

import os
from collections.abc import Callable

from engine.calls.model.call import Call
from engine.calls.model.codec import decode_stored_call
from engine.calls.model.causes import EndedBy
from engine.calls.model.ids import slot_and_node
from engine.calls.model.requests import CallRequest, ControlRequest, HangupRequested
from engine.calls.sessions.preconditions import Rejection, check_request
from engine.observe.metrics import Metrics
from engine.runtime.admission.inbound import InboundCalls
from engine.runtime.admission.limits import ClusterLoad, RateLimiter
from engine.runtime.admission.outbound import OutboundCalls
from engine.runtime.admission.placement import NoCapacity, Placement
from engine.runtime.admission.routes import DefaultTargetLookup, no_default_target
from engine.runtime.admission.settings import CallIds, CallSettings
from engine.runtime.agents.directory import Directory
from engine.runtime.base.clock import Clock
from engine.runtime.nodes.drains import DrainedNodes
from engine.runtime.nodes.incoming import IncomingChannel
from engine.runtime.nodes.node import Node
from engine.runtime.ownership.takeover import ClaimedCall
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


class CallService:
    """What the RPC and the nodes call; holds no call itself, the desks do."""

    def __init__(  # noqa: PLR0913, PLR0917 - collaborators are passed in
        self,
        store: Store,
        clock: Clock,
        gate: RateLimiter,
        rules: CallSettings,
        random_bytes: Callable[[int], bytes] = os.urandom,
        directory: Directory | None = None,
        others: ClusterLoad | None = None,
        meter: Metrics | None = None,
        told: DefaultTargetLookup = no_default_target,
    ) -> None:
        meter = meter or Metrics()
        self.follow: Callable[[str], None] = _untraced  # hears which call a request is about
        self.releasing: set[int] = set()  # slots that are being handed over: not ours, for who asks
        self.placement = Placement(gate, clock, rules.trunk, others, meter)
        self.drained_nodes = DrainedNodes(store)
        self.placement.drained = lambda: self.drained_nodes.nodes
        self._store = store
        self._slots = rules.slots
        tails = CallIds(random_bytes)
        self._maker = OutboundCalls(self, clock, rules, tails, told)
        self._reception = InboundCalls(
            store,
            clock,
            self.placement,
            rules=rules,
            tails=tails,
            directory=directory,
            meter=meter,
            told=told,
            going=self.releasing,
        )

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes, by name."""
        return self.placement.nodes

    @property
    def live(self) -> int:
        """How many calls live in this engine."""
        return self.placement.live

    def owned_slots(self) -> set[int]:
        """Tell which slots are this engine's."""
        return {slot for node in self.nodes.values() for slot in node.shards}

    async def originate(self, asked: Originate) -> Call:
        """Start a call and return it once it is stored; raises NoRoom, Elsewhere, StoreDown."""
        return await self._maker.originate(asked)

    async def request(self, call: str, event: ControlRequest) -> Call:
        """Ask something of a live call and return it once that is stored.

        Raises Refused, NoRoom while its node or the store is away, StoreDown when that takes long.
        """
        desk, actor = self.find(call) or (None, None)
        if desk is None or actor is None:
            self.check_owned(call)
            raise RequestRejected(
                Rejection("conflict", "call_ended", f"call {call} is not live here")
            )
        if not desk.is_paused:
            desk.deliver_logged_digits(actor)
        if refusal := check_request(actor.call, event):
            raise RequestRejected(refusal)
        self._check_lease(desk)
        if desk.is_paused:
            raise NoCapacity("node_away", f"PBX node {desk.context.node} can't be heard now")
        return await self._asked(desk, actor, event)

    async def await_node(self, call: str) -> None:
        """Give the node of a live call a moment, when it is being looked at."""
        desk, _ = self.find(call) or (None, None)
        if desk is not None and desk.is_paused and desk.context.slot not in self.releasing:
            await wait_connected(desk.pause_buffer.resumed)

    def check_owned(self, call: str) -> None:
        """Raise Elsewhere when a call's slot is not this engine's."""
        slot, node = slot_and_node(call) or (-1, "")
        if node in self.nodes and slot < self._slots and not self.owns(slot):
            raise NotOwner(slot)

    def owns(self, slot: int) -> bool:
        """Tell whether a slot is this engine's, and stays it."""
        return slot not in self.releasing and any(slot in n.shards for n in self.nodes.values())

    def handle_incoming(self, desk: CallShard, arrival: IncomingChannel) -> None:
        """Take a call in, or refuse it early."""
        self._reception.handle(desk, arrival)

    def find(self, call: str) -> tuple[CallShard, Actor] | None:
        """Find a live call of this engine."""
        where = slot_and_node(call)
        node = self.nodes.get(where[1]) if where else None
        desk = node.shards.get(where[0]) if node and where else None
        actor = desk.actors.get(call) if desk else None
        return (desk, actor) if desk and actor else None

    async def read(self, call: str) -> Call | None:
        """Read a call, live or ended; raises StoreDown."""
        if found := self.find(call):
            return found[1].call
        where = slot_and_node(call)
        state = await self._store.read(where[0], call) if where else None
        return decode_stored_call(state).call if state else None

    async def hang_up(self, call: str, by: EndedBy) -> bool:
        """End a live call, also while its node is away; False when it is not live here.

        Stored when this returns, so that it is not forgotten, whoever has the slot then. Raises
        NoRoom once the slot may be another's, StoreDown when storing takes long.
        """
        desk, actor = self.find(call) or (None, None)
        if desk is None or actor is None:
            self.check_owned(call)
            return False
        self._check_lease(desk)
        desk.deliver_logged_digits(actor)
        await self._asked(desk, actor, HangupRequested(by))
        return True

    def adopt(self, stored: ClaimedCall, slot: int) -> None:
        """Take up a stored call; its desk goes on with it once its node is back."""
        record = stored.record
        desk = self.nodes[stored.node].shards[slot]
        desk.prefetch(desk.adopt(Actor(record.call, record.outbox, record.log_length)))

    def _check_lease(self, desk: CallShard) -> None:
        """Raise Elsewhere when a desk is being handed over, NoRoom when it may be another's."""
        if desk.context.slot in self.releasing:
            raise NotOwner(desk.context.slot)
        if not desk.context.lease.holds:
            raise NoCapacity("no_owner", "the call's engine can't be sure of its slot now")

    async def _asked(self, desk: CallShard, actor: Actor, event: CallRequest) -> Call:
        """Give a call what is asked of it, and give it as it then is, once that is stored."""
        self.follow(actor.call.id)
        with awaiting_commit(desk.pending_acks) as promise:
            desk.request(actor, event, promise.confirm)
            after = actor.call  # what others ask meanwhile may not be stored yet
            await promise.wait(f"call {after.id} took it, and it is not stored yet")
        return after


def _untraced(_call: str) -> None:
    """Leave no trace."""
