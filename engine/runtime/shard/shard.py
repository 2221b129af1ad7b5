"""A shard: the live calls of one slot on one PBX node.

It runs synchronously on the event loop: an event is stepped at once (`step_runner.py`), unless the
node is disconnected (`pause_buffer.py`).
"""

from collections.abc import Collection, Iterable

import structlog

from engine.calls.flows.audio_sources import pending_audio_sources
from engine.calls.model import causes
from engine.calls.model.call import Call, deadline_ms
from engine.calls.model.codec import encode
from engine.calls.model.commands import Command
from engine.calls.model.events import CallOpened, DeadlinePassed, Event
from engine.calls.model.io_commands import PrefetchMedia
from engine.calls.model.requests import CallRequest
from engine.calls.recovery.missed_digits import undelivered_digits
from engine.runtime.base.clock import Clock
from engine.runtime.base.ports import IoRunner, Writer
from engine.runtime.shard.actor import Actor
from engine.runtime.shard.context import ShardContext, ShardHost
from engine.runtime.shard.executor import CommandExecutor
from engine.runtime.shard.metrics import ShardMetrics
from engine.runtime.shard.pause_buffer import PauseBuffer
from engine.runtime.shard.request_commit import CommitAck
from engine.runtime.shard.step_runner import OnStored, StepRunner, no_op
from wire.base import tag_of

log = structlog.get_logger()


class CallShard:
    """Runs the calls of one (node, slot): the only place where a call's value changes."""

    def __init__(
        self, context: ShardContext, clock: Clock, writer: Writer, io: IoRunner, host: ShardHost
    ) -> None:
        self.context = context
        self.actors: dict[str, Actor] = {}
        self.inbound: dict[str, Actor] = {}  # by the channel id that Asterisk chose
        self.pause_buffer = PauseBuffer()
        self.pending_acks: set[CommitAck] = set()  # of requests that wait for their commit
        self._clock = clock
        self._writer = writer
        self._io = io
        self._host = host
        self._is_retired = False
        self._metrics = ShardMetrics(context.metrics, context.node, context.slot)
        self._executor = CommandExecutor(context, io, self.feed, self._on_reply_lost)
        self._step_runner = StepRunner(
            context.node, clock, writer, io, self._executor, is_paused=lambda: self.is_paused
        )

    def start_call(self, call: Call, on_stored: OnStored = no_op) -> Actor:
        """Start a new call; `on_stored` is called after its first commit."""
        actor = self.adopt(Actor(call))
        self._metrics.call_started(call)
        self._step(actor, CallOpened(), (encode(call),), on_stored)
        return actor

    def adopt(self, actor: Actor) -> Actor:
        """Add a call that is already running."""
        call = actor.call
        self.actors[call.id] = actor
        if actor.inbound_channel is not None:
            self.inbound[actor.inbound_channel] = actor
        return actor

    def prefetch(self, actor: Actor) -> None:
        """Fetch the audio that a call will need: its last owner had the clips, not this engine."""
        if sources := pending_audio_sources(actor.call):
            self._io.prefetch(PrefetchMedia(sources))

    def find_by_channel(self, channel_id: str) -> Actor | None:
        """Find the call of a channel; ids that we chose begin with the call's id."""
        return self.actors.get(channel_id.rpartition(".")[0]) or self.inbound.get(channel_id)

    def feed(self, actor: Actor, event: Event) -> None:
        """Step a call by an event, or buffer the event while the shard is paused."""
        if not self.is_paused:
            self._step(actor, event)
        elif not isinstance(event, DeadlinePassed):
            self.pause_buffer.append(actor, event)

    def request(self, actor: Actor, request: CallRequest, on_stored: OnStored) -> None:
        """Step a call by a control request, even while the shard is paused (decision 0025).

        `on_stored` is called once the request and everything before it is committed.
        """
        self._step(actor, request, (), on_stored)

    def deliver_logged_digits(self, actor: Actor) -> None:
        """Step a call by the digits that AMI reported and the websocket has not delivered.

        The websocket may be lost without notice; digits pressed earlier must be handled earlier.
        """
        now = self._clock.now_ms()
        for digit in undelivered_digits(actor.call, self._host.logged_digits(), now):
            self._step(actor, digit)

    def pause(self) -> None:
        """Stop the calls' deadlines: without the node's events nothing may be concluded."""
        self.pause_buffer.pause()

    def resume(self) -> None:
        """Process the buffered events and restart the deadlines."""
        for actor, event in self.pause_buffer.resume():
            self.feed(actor, event)
        for actor in list(self.actors.values()):
            self._set_timer(actor)

    @property
    def is_paused(self) -> bool:
        """Whether the node is disconnected, or another engine may own the slot."""
        return not (self.pause_buffer.resumed.is_set() and self.context.lease.holds)

    @property
    def can_store(self) -> bool:
        """Whether a new call could be stored now."""
        return self._writer.is_healthy and not self._writer.is_overloaded

    @property
    def uncommitted(self) -> int:
        """Number of uncommitted changes of the slot, on all its nodes."""
        return self._writer.pending_count

    def store_again(self, except_calls: Collection[str] = ()) -> None:
        """Store the present state of the calls again, after the store lost data."""
        for actor in self.actors.values():
            if actor.call.id not in except_calls:
                self._writer.rewrite(actor.snapshot(self.context.node))

    def inherit_events(self, buffered: Iterable[tuple[Actor, Event]]) -> None:
        """Buffer the events that another shard buffered for the same calls."""
        for actor, event in buffered:
            if successor := self.actors.get(actor.call.id):
                self.pause_buffer.append(successor, event)
        self.pause_buffer.mark_gap()

    def retire(self) -> None:
        """Stop for good: another engine or shard owns the calls."""
        self.pause()
        self._is_retired = True
        for actor in self.actors.values():
            actor.retire()
            if self.context.recorder is not None:
                self.context.recorder.abandon(actor.call.id)
        self.actors, self.inbound = {}, {}
        for ack in self.pending_acks:
            ack.abandon()

    def recover_call(
        self, actor: Actor, redo: tuple[Command, ...], events: tuple[Event, ...]
    ) -> None:
        """Execute again what may not have been executed, then step through the missed events."""
        self._executor.execute(actor, actor.recover(redo))
        for event in events:
            if not actor.call.is_ended:
                self._step(actor, event)

    def _step(
        self,
        actor: Actor,
        event: Event,
        first_lines: tuple[bytes, ...] = (),
        on_stored: OnStored = no_op,
    ) -> None:
        try:
            is_changed = self._step_runner.step(actor, event, first_lines, on_stored)
        except Exception:
            # An error in one call ends that call, loudly; it must not affect other calls.
            log.exception("call dropped", call_id=actor.call.id, event_type=tag_of(event))
            for leg in actor.call.legs:
                self.context.hang_up_channel(leg.id, causes.TEMPORARY_FAILURE)
            self._remove_call(actor)
            return
        if actor.call.is_ended and actor.call.id in self.actors:
            self._remove_call(actor)
        elif is_changed:
            self._set_timer(actor)

    def _remove_call(self, actor: Actor) -> None:
        self.actors.pop(actor.call.id, None)
        self.inbound.pop(actor.inbound_channel or "", None)
        actor.disarm()
        self._metrics.call_ended(actor.call)

    def _on_reply_lost(self) -> None:
        if not self._is_retired:
            self._host.on_reply_lost(self.context.slot)

    def _set_timer(self, actor: Actor) -> None:
        """Set a call's timer to its next deadline, or cancel it when there is none."""
        actor.arm(self._clock, lambda: self._on_timer(actor))

    def _on_timer(self, actor: Actor) -> None:
        actor.timer = None
        # The clock has whole milliseconds: a punctual timer may seem early.
        self._metrics.timer_fired(max(0, self._clock.now_ms() - actor.armed_ms))
        if self.is_paused:
            return  # resume sets the timers again
        if self._is_due(actor):
            self.deliver_logged_digits(actor)  # a digit pressed in time precedes its timeout
        if self._is_due(actor):
            self.feed(actor, DeadlinePassed())
        if actor.timer is None and actor.call.id in self.actors:
            self._set_timer(actor)

    def _is_due(self, actor: Actor) -> bool:
        due_ms = deadline_ms(actor.call)
        return due_ms is not None and self._clock.now_ms() >= due_ms
