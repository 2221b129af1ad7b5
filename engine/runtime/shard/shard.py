"""A shard: the live calls of one slot on one PBX node.

It runs synchronously on the event loop: an event is stepped at once (`step_runner.py`), unless the
node is disconnected (`PauseBuffer`).
"""

import asyncio
from collections.abc import Collection, Iterable

import structlog

from engine.ari.generated.operations import channels
from engine.ari.request import Reply
from engine.calls.model import causes
from engine.calls.model.call import Call
from engine.calls.model.commands import Command
from engine.calls.model.events import (
    CallOpened,
    ClockChanged,
    DeadlinePassed,
    DigitPressed,
    Event,
    LegAnswered,
    LegReplaced,
)
from engine.calls.model.io_commands import PrefetchMedia
from engine.calls.model.io_results import CUSTOMER_RESPONSES
from engine.calls.model.requests import CallRequest, ReplacementArrived
from engine.calls.model.storage_format import LaterCall, StoredCall, encode
from engine.calls.step import step
from engine.calls.verbs.audio_sources import pending_audio_sources
from engine.calls.verbs.sensitive_input import sensitive_leg
from engine.runtime.base.clock import Clock
from engine.runtime.io.command_runner import IoRunner
from engine.runtime.shard.call_guard import CallGuard
from engine.runtime.shard.context import ShardContext, ShardHost
from engine.runtime.shard.control_requests import RequestAck
from engine.runtime.shard.deadlines import Deadlines
from engine.runtime.shard.executor import CommandExecutor
from engine.runtime.shard.late_offers import LateOffers
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.metrics import ShardMetrics
from engine.runtime.shard.step_runner import (
    MAX_LOG_LINES,
    Core,
    OnStored,
    StepRunner,
    drop_call,
    no_op,
)
from engine.store.writer import Writer
from wire.base import tag_of
from wire.call_id_format import call_of

log = structlog.get_logger()
Replacement = ReplacementArrived | LegReplaced
MAX_CLOCK_SKEW_MS = 1_000  # of engines' clocks: smaller ones move no deadline


class CallShard:
    """Runs the calls of one (node, slot): the only place where a call's value changes."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        context: ShardContext,
        clock: Clock,
        writer: Writer,
        io: IoRunner,
        host: ShardHost,
        *,
        core: Core = step,
        max_log_lines: int = MAX_LOG_LINES,
    ) -> None:
        self.context = context
        self.calls: dict[str, LiveCall] = {}
        self.foreign: dict[str, LiveCall] = {}  # by the ids of their `foreign_channels`
        self.callers = set[str]()  # channels whose call is about to start, unless they end
        self.pause_buffer = PauseBuffer()
        self.last_seen_ms = 0  # when events of its calls last arrived, before a gap; 0: unknown
        self.new_owner = ""  # the engine that took its calls over, until they are recovered
        self.pending_acks: list[RequestAck] = []  # of requests that wait for their commit
        self._later_calls: tuple[LaterCall, ...] = ()
        self._clock = clock
        self._writer = writer
        self._io = io
        self._host = host
        self._is_retired = False
        self._is_handing_over = False
        self._metrics = ShardMetrics(context.metrics, context.node, context.slot)
        self.late_offers = LateOffers(context, clock, self.feed)
        self._deadlines = Deadlines(self, clock, host, self._metrics)
        self._executor = CommandExecutor(
            context,
            io,
            self.feed,
            self._on_reply_lost,
            self.guard,
            clock=clock,
            on_last_webhook=writer.mark_sent,
        )
        self._step_runner = StepRunner(
            context.node,
            clock,
            writer,
            io,
            self._executor,
            self._awaits_recovery,
            core,
            max_log_lines,
            context.endpoints.policy,
        )

    def start_call(self, call: Call, on_stored: OnStored = no_op) -> LiveCall:
        """Start a new call; `on_stored` is called after its first commit."""
        live_call = self.adopt(LiveCall(call))
        self._metrics.call_started(call)
        self.step(live_call, CallOpened(), (encode(call),), on_stored)
        return live_call

    def adopt(self, live_call: LiveCall) -> LiveCall:
        """Add a call that is already running."""
        self.calls[live_call.call.id] = live_call
        self.foreign.update(dict.fromkeys(live_call.foreign_channels, live_call))
        self.context.legs.update(live_call.call)
        return live_call

    def send_last_webhooks(self, ended: StoredCall) -> None:
        """Send what the last owner of an ended call may not have sent."""
        live_call = LiveCall(ended.call, ended.outbox, ended.log_length)
        self._executor.execute(live_call, live_call.unsent_webhooks())

    def join(self, live_call: LiveCall, replacement: Replacement) -> None:
        """Offer a call a leg from outside it, and pass it the events of that leg."""
        self._add_channel(live_call, replacement.leg)
        self.feed(live_call, replacement)

    def _add_channel(self, live_call: LiveCall, channel_id: str) -> None:
        if channel_id not in live_call.foreign_channels:
            live_call.foreign_channels += (channel_id,)
        self.foreign[channel_id] = live_call

    def prefetch(self, live_call: LiveCall) -> None:
        """Fetch the audio that a call will need: its last owner had the clips, not this engine."""
        with self.guard(live_call, "prefetch"):
            if sources := pending_audio_sources(live_call.call):
                self._io.prefetch(live_call.call, PrefetchMedia(sources))

    def find_by_channel(self, channel_id: str) -> LiveCall | None:
        """Find the call of a channel; ids that we chose begin with the call's id."""
        return self.calls.get(channel_id.rpartition(".")[0]) or self.foreign.get(channel_id)

    def leave_alone(self, calls: Collection[LaterCall]) -> None:
        """Protect the legs and bridges of calls that a later version stored."""
        self._later_calls = tuple(calls)

    def is_left_alone(self, resource: str) -> bool:
        """Return whether a call, channel or bridge may be that of a later version."""
        return any(each.call_id == resource or each.owns(resource) for each in self._later_calls)

    def feed(self, live_call: LiveCall, event: Event) -> None:
        """Step a call by an event, or buffer the event while the shard is paused."""
        event = self.late_offers.mark(live_call, event)
        if not self.is_paused or self._is_last_response(event):
            self.step(live_call, event)
            check_media(self.context, live_call, event)
        elif not isinstance(event, DeadlinePassed):
            self.pause_buffer.append(live_call, event)

    def step(
        self,
        live_call: LiveCall,
        event: Event,
        first_lines: tuple[bytes, ...] = (),
        on_stored: OnStored = no_op,
    ) -> None:
        """Step a call, and set its timer; an exception ends this call, and no other."""
        leg = sensitive_leg(live_call.call)
        with self.guard(live_call, tag_of(event)):
            is_changed = self._step_runner.step(live_call, event, first_lines, on_stored)
            if leg is not None and leg != sensitive_leg(live_call.call):
                self._host.forget_digits(leg)
            if live_call.call.is_ended and live_call.call.id in self.calls:
                self._remove_call(live_call)
            elif is_changed:
                if live_call.call.id in self.calls:
                    self.context.legs.update(live_call.call)
                self._deadlines.set_timer(live_call)

    def request(self, live_call: LiveCall, request: CallRequest, on_stored: OnStored) -> None:
        """Step a call by a control request, even while the shard is paused (decision 0025).

        `on_stored` is called once the request and everything before it is committed.
        """
        self.step(live_call, request, (), on_stored)

    def deliver_logged_digits(self, live_call: LiveCall) -> None:
        """Step a call by the digits that AMI reported and the websocket has not delivered."""
        self._deadlines.deliver_logged_digits(live_call)

    def change_clock(self, by_ms: int) -> None:
        """Move the times of all calls after the engine's clock was corrected, and store them."""
        self.last_seen_ms += by_ms if self.last_seen_ms else 0
        for live_call in list(self.calls.values()):
            self._change_clock(live_call, by_ms)

    def adopt_clock(self, live_call: LiveCall, offset_ms: int | None) -> None:
        """Move the times of a call of another engine whose clock differs from this one's.

        `offset_ms` is by how much that clock was ahead of the store's.
        """
        by_ms = 0 if offset_ms is None else self._clock.offset_ms - offset_ms
        if abs(by_ms) > MAX_CLOCK_SKEW_MS:
            call_id = live_call.call.id
            log.warning("clock differs from the last owner's", call_id=call_id, by_ms=by_ms)
            self._change_clock(live_call, by_ms)

    def _change_clock(self, live_call: LiveCall, by_ms: int) -> None:
        live_call.disarm()
        self.step(live_call, ClockChanged(by_ms))

    def mark_gap(self, silent_ms: int = 0) -> None:
        """Pause: events are missed from here on, or have been for `silent_ms`."""
        # An engine that was frozen notices it now.
        seen_ms = self._clock.now_ms() - max(silent_ms, self.context.lease.unseen_ms)
        self.last_seen_ms = self.last_seen_ms or seen_ms
        self._is_handing_over = False  # the next owner finds first what was missed
        self.pause_buffer.mark_gap()

    def pause(self) -> None:
        """Stop the calls' deadlines: without the node's events nothing may be concluded."""
        self.pause_buffer.pause()

    def begin_handover(self) -> None:
        """Pause until the shard stops, but step calls by customers' responses, and send commands.

        The next owner would repeat requests in flight; it sends those that are not started yet.
        """
        self._is_handing_over = not self.is_paused
        self._executor.is_handing_over = True
        self.pause()

    async def wait_for_customers(self) -> None:
        """Wait for the responses to a call's webhooks and API requests that are in flight."""
        if self._is_handing_over:
            await self._executor.customer_requests.wait_until_empty()

    async def wait_for_pbx(self) -> None:
        """Wait until the PBX has all committed commands.

        The next owner takes a prompt for heard whose time is over.
        """
        if self._is_handing_over:
            await self._executor.wait_until_sent(self.calls.values())

    def resume(self) -> None:
        """Process the buffered events and restart the deadlines."""
        self.last_seen_ms, self.new_owner = 0, ""
        for live_call, event in self.pause_buffer.resume():
            self.feed(live_call, event)
        for live_call in list(self.calls.values()):
            with self.guard(live_call, "timer"):
                self._deadlines.set_timer(live_call)

    @property
    def is_paused(self) -> bool:
        """Whether the node is disconnected, or another engine may own the slot."""
        return not (self.pause_buffer.resumed.is_set() and self.context.lease.holds)

    @property
    def can_store(self) -> bool:
        """Whether a new call could be stored now."""
        return self._writer.is_healthy and not self._writer.is_overloaded

    @property
    def backlog(self) -> tuple[int, float]:
        """The number of uncommitted changes, and the seconds that the present commit has taken."""
        return self._writer.pending_count, self._writer.lag_s

    def store_again(self, except_calls: Collection[str] = ()) -> None:
        """Store the present state of the calls again, after the store lost data."""
        for live_call in self.calls.values():
            if live_call.call.id not in except_calls:
                self._writer.rewrite(live_call.snapshot(self.context.node, self._clock))

    def inherit_events(self, buffered: Iterable[tuple[LiveCall, Event]]) -> None:
        """Buffer the events that another shard buffered for the same calls."""
        for live_call, event in buffered:
            if successor := self.calls.get(live_call.call.id):
                self.pause_buffer.append(successor, event)
                if isinstance(event, Replacement):
                    self._add_channel(successor, event.leg)
        self.mark_gap()

    def retire(self) -> None:
        """Stop permanently: another engine or shard owns the calls."""
        self.pause()
        self._is_retired = True
        for live_call in self.calls.values():
            live_call.retire()
            self.context.legs.remove(live_call.call.id)
            if self.context.recorder is not None:
                self.context.recorder.abandon(live_call.call.id)
        self.calls, self.foreign = {}, {}
        for ack in self.pending_acks:
            ack.abandon()

    def recover_call(
        self, live_call: LiveCall, redo: tuple[Command, ...], events: tuple[Event, ...]
    ) -> None:
        """Execute again what may not have been executed, then step through the missed events."""
        if self.context.recorder is not None:
            self.context.recorder.drop_waiting(live_call.call.id)
        self._executor.execute(live_call, live_call.recover(redo))
        for event in events:
            if isinstance(event, Replacement):
                self._add_channel(live_call, event.leg)
            if not live_call.call.is_ended:
                self.step(live_call, event)
                check_media(self.context, live_call, event)

    def guard(self, live_call: LiveCall, activity: str) -> CallGuard:
        """Return a context in which an exception ends this call, and no other."""
        return CallGuard(live_call, activity, self._drop)

    def _drop(self, live_call: LiveCall, activity: str, error: Exception) -> None:
        """End a call because of an error, which must not affect other calls."""
        self._remove_call(live_call)
        drop_call(live_call, activity, error, self.context, self._step_runner)

    def _awaits_recovery(self) -> bool:
        """Whether a recovery may have requested what is committed now."""
        return self.is_paused and not (self._is_handing_over and self.context.lease.holds)

    def _is_last_response(self, event: Event) -> bool:
        """Whether this is a customer's response that the next owner would not receive."""
        is_handing_over = self._is_handing_over and self.context.lease.holds
        return is_handing_over and isinstance(event, CUSTOMER_RESPONSES)

    def _remove_call(self, live_call: LiveCall) -> None:
        self.calls.pop(live_call.call.id, None)
        for channel_id in live_call.foreign_channels:
            self.foreign.pop(channel_id, None)
        live_call.disarm()
        self.late_offers.forget(live_call)
        self.context.legs.remove(live_call.call.id)
        self._metrics.call_ended(live_call.call)
        self._io.release(live_call.call.id)

    def _on_reply_lost(self) -> None:
        if not self._is_retired:
            self._host.on_reply_lost(self.context.slot)


class PauseBuffer:
    """The events of a paused shard, and where some are missing; it starts paused."""

    def __init__(self) -> None:
        self.resumed = asyncio.Event()  # unset while the shard is paused
        self.events: list[tuple[LiveCall, Event]] = []
        self._gap = 0  # index of the first event after the missed ones

    def pause(self) -> None:
        self.resumed.clear()

    def mark_gap(self) -> None:
        """Pause, and note that events are missed from here on."""
        self.pause()
        self._gap = len(self.events)

    def append(self, live_call: LiveCall, event: Event) -> None:
        """Pause, and buffer an event."""
        self.pause()
        self.events.append((live_call, event))

    def resume(self) -> list[tuple[LiveCall, Event]]:
        """End the pause and return the buffered events."""
        self.resumed.set()
        events, self.events, self._gap = self.events, [], 0
        return events

    def insert_missed(self, live_call: LiveCall, events: Iterable[Event]) -> None:
        """Insert recovered events at the gap."""
        recovered = [(live_call, event) for event in events]
        self.events[self._gap : self._gap] = recovered
        self._gap += len(recovered)

    def last_digits_before_gap(self) -> dict[str, DigitPressed]:
        """Return each leg's last buffered digit before the gap."""
        before = self.events[: self._gap]
        digits = (event for _, event in before if isinstance(event, DigitPressed))
        return {digit.leg: digit for digit in digits}

    def first_digits_after_gap(self) -> dict[str, DigitPressed]:
        """Return each leg's first buffered digit after the gap."""
        after = self.events[self._gap :]
        digits = (event for _, event in reversed(after) if isinstance(event, DigitPressed))
        return {digit.leg: digit for digit in digits}

    def replaced_legs(self) -> dict[str, str]:
        """Return the legs that were replaced, each with the channel in its place."""
        events = (event for _, event in self.events if isinstance(event, LegReplaced))
        return {event.replaced: event.leg for event in events}


NO_RTP = 404  # the channel has no RTP instance, or has ended


def check_media(context: ShardContext, live_call: LiveCall, event: Event) -> None:
    """Query the RTP statistics of a called leg that has just answered."""
    if not isinstance(event, LegAnswered) or call_of(event.leg) is None:
        return
    leg = event.leg

    def checked(reply: Reply) -> None:
        if reply.status == NO_RTP and live_call.call.leg(leg) is not None:
            log.warning("leg without media", node=context.node, channel=leg)
            context.hang_up_channel(leg, causes.BEARER_UNAVAILABLE)

    context.pbx.send(channels.rtpstatistics(leg), live_call.call.id, False, checked)
