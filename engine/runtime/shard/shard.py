"""A desk: the live calls of one slot on one PBX node, who hear what happens and what is asked.

All of it runs on the loop, synchronously: an event is stepped at once (`steps.py`), unless the
node can't be heard (`standstill.py`).
"""

from collections.abc import Callable, Collection, Iterable

import structlog

from engine.calls.flows.prefetch import pending_audio_sources
from engine.calls.model import causes
from engine.calls.model.call import Call
from engine.calls.model.codec import encode
from engine.calls.model.commands import Command
from engine.calls.model.events import CallOpened, DeadlinePassed, Event
from engine.calls.model.io_commands import PrefetchMedia
from engine.calls.model.requests import CallRequest
from engine.calls.recovery.dtmf import DigitsByLeg, undelivered_digits
from engine.runtime.base.clock import Clock
from engine.runtime.base.ports import IoRunner, Writer
from engine.runtime.shard.actor import Actor
from engine.runtime.shard.commit_ack import CommitAck
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.executor import CommandExecutor
from engine.runtime.shard.metrics import ShardMetrics
from engine.runtime.shard.pause_buffer import PauseBuffer
from engine.runtime.shard.step_runner import OnStored, StepRunner, no_op
from engine.runtime.shard.timers import DeadlineTimers
from wire.base import tag_of

log = structlog.get_logger()


class CallShard:
    """Runs the calls of one (node, slot): the only place where a call's value changes."""

    def __init__(
        self, place: ShardContext, clock: Clock, writer: Writer, errands: IoRunner
    ) -> None:
        self.context = place
        self.actors: dict[str, Actor] = {}
        self.inbound: dict[str, Actor] = {}  # by the channel id that Asterisk chose
        self.on_doubt: Callable[[], None] = lambda: None
        self.overheard: Callable[[], DigitsByLeg] = dict  # the node's keys, as AMI tells them
        self.pause_buffer = PauseBuffer()
        self.pending_acks: set[CommitAck] = set()  # to those who wait until something is stored
        self._clock = clock
        self._writer = writer
        self._io = errands
        self._metrics = ShardMetrics(place.meter, place.node, place.slot)
        self._timers = DeadlineTimers(clock, self._metrics, self._on_deadline)
        self._executor = CommandExecutor(
            place.pbx, place.endpoints, errands, self.feed, self._doubt, place.recorder
        )
        self._step_runner = StepRunner(
            place.node, clock, writer, errands, self._executor, is_held=lambda: self.is_paused
        )

    def start_call(self, call: Call, stored: OnStored = no_op) -> Actor:
        """Take a new call up; `stored` is called once its first commit has been made."""
        actor = self.adopt(Actor(call))
        self._metrics.call_started(call)
        self._step(actor, CallOpened(), (encode(call),), stored)
        return actor

    def adopt(self, actor: Actor) -> Actor:
        """Take up a call that has a life behind it."""
        call = actor.call
        self.actors[call.id] = actor
        if actor.inbound_channel is not None:
            self.inbound[actor.inbound_channel] = actor
        return actor

    def prefetch(self, actor: Actor) -> None:
        """Have the audio ready that a call will want: another engine had it until now."""
        if sources := pending_audio_sources(actor.call):
            self._io.prefetch(PrefetchMedia(sources))

    def find_by_channel(self, channel_id: str) -> Actor | None:
        """Find the call of a channel: ours carry the call's id before the last dot."""
        return self.actors.get(channel_id.rpartition(".")[0]) or self.inbound.get(channel_id)

    def feed(self, actor: Actor, event: Event) -> None:
        """Give a call an event; while the node is away it is kept for later."""
        if not self.is_paused:
            self._step(actor, event)
        elif not isinstance(event, DeadlinePassed):
            self.pause_buffer.append(actor, event)

    def request(self, actor: Actor, asked: CallRequest, stored: OnStored) -> None:
        """Give a call what somebody asks of it, also while its node is away (decision 0025).

        `stored` is called once that is stored, and all before it.
        """
        self._step(actor, asked, (), stored)

    def deliver_logged_digits(self, actor: Actor) -> None:
        """Give a call the keys that its node would have told by now, if it could be heard.

        Its websocket may be lost, and nobody knows: what was pressed before comes before.
        """
        for key in undelivered_digits(actor.call, self.overheard(), self._clock.now_ms()):
            self._step(actor, key)

    def pause(self) -> None:
        """Stop the calls' time: the node can't be heard, so nothing may be concluded."""
        self.pause_buffer.pause()

    def resume(self) -> None:
        """Go on, first with what came meanwhile."""
        for actor, event in self.pause_buffer.resume():
            self.feed(actor, event)
        for actor in list(self.actors.values()):
            self._timers.set(actor)

    @property
    def is_paused(self) -> bool:
        """Whether the node is away, or the slot may be another engine's."""
        return not (self.pause_buffer.resumed.is_set() and self.context.lease.holds)

    @property
    def can_store(self) -> bool:
        """Whether a new call could be stored now."""
        return self._writer.is_healthy and not self._writer.is_overloaded

    @property
    def uncommitted(self) -> int:
        """How many changes of its slot, at any node, wait for the store."""
        return self._writer.pending_count

    def store_again(self, but: Collection[str] = ()) -> None:
        """Store every call as it is, but for some: the store may have lost any of them."""
        for actor in self.actors.values():
            if actor.call.id not in but:
                self._writer.rewrite(actor.snapshot(self.context.node))

    def inherit_events(self, kept: Iterable[tuple[Actor, Event]]) -> None:
        """Keep what another desk kept for the same calls: what a phone asked is in it, too."""
        for actor, event in kept:
            if heir := self.actors.get(actor.call.id):
                self.pause_buffer.append(heir, event)
        self.pause_buffer.mark_gap()

    def retire(self) -> None:
        """Do nothing more: the calls are another's, or will be."""
        self.pause()
        self.on_doubt = no_op
        for actor in self.actors.values():
            actor.retire()
            if self.context.recorder is not None:
                self.context.recorder.abandon(actor.call.id)
        self.actors, self.inbound = {}, {}
        for promise in self.pending_acks:
            promise.abandon()

    def recover_call(
        self, actor: Actor, redo: tuple[Command, ...], events: tuple[Event, ...]
    ) -> None:
        """Do again what may not have been done, then take what was missed."""
        self._executor.execute(actor, actor.recover(redo))
        for event in events:
            if not actor.call.is_ended:
                self._step(actor, event)

    def _step(
        self,
        actor: Actor,
        event: Event,
        first: tuple[bytes, ...] = (),
        stored: OnStored = no_op,
    ) -> None:
        try:
            is_changed = self._step_runner.step(actor, event, first, stored)
        except Exception:
            # A fault in one call ends that call, loudly; it must not reach the others.
            log.exception("call dropped", call_id=actor.call.id, event_type=tag_of(event))
            for leg in actor.call.legs:
                self.context.hang_up_channel(leg.id, causes.TEMPORARY_FAILURE)
            self._remove_call(actor)
            return
        if actor.call.is_ended and actor.call.id in self.actors:
            self._remove_call(actor)
        elif is_changed:
            self._timers.set(actor)

    def _remove_call(self, actor: Actor) -> None:
        self.actors.pop(actor.call.id, None)
        self.inbound.pop(actor.inbound_channel or "", None)
        actor.disarm()
        self._metrics.call_ended(actor.call)

    def _doubt(self) -> None:
        self.on_doubt()

    def _on_deadline(self, actor: Actor) -> None:
        if self.is_paused:
            return  # who is released is woken again
        if self._timers.is_due(actor):
            self.deliver_logged_digits(
                actor
            )  # who has pressed a key is not to be told that its time is over
        if self._timers.is_due(actor):
            self.feed(actor, DeadlinePassed())
        if actor.timer is None and actor.call.id in self.actors:
            self._timers.set(actor)
