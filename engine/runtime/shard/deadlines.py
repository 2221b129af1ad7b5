"""Steps a shard's calls by their deadlines, after the digits that were pressed in time."""

from collections.abc import Container
from functools import partial
from typing import Protocol

import structlog

from engine.calls.model.events import DeadlinePassed, Event
from engine.calls.recovery.missed_digits import keys_at_deadline, undelivered_digits
from engine.runtime.base.clock import Clock
from engine.runtime.shard.call_guard import CallGuard
from engine.runtime.shard.context import ShardHost
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.metrics import ShardMetrics

log = structlog.get_logger()
POSTPONED_MS = 1_000  # a deadline that had no effect passes again after so long


class DeadlineShard(Protocol):
    """The shard whose calls have the deadlines; `CallShard` implements it."""

    @property
    def calls(self) -> Container[str]:
        """Return its calls by id."""

    @property
    def is_paused(self) -> bool:
        """Whether no deadline may pass now."""

    def step(self, live_call: LiveCall, event: Event) -> None:
        """Step a call, even while the shard is paused."""

    def feed(self, live_call: LiveCall, event: Event) -> None:
        """Step a call unless the shard is paused."""

    def guard(self, live_call: LiveCall, activity: str) -> CallGuard:
        """Return a context in which an exception ends only this call."""


class Deadlines:
    """The timers of a shard's calls, one for the next deadline of each."""

    def __init__(
        self, shard: DeadlineShard, clock: Clock, host: ShardHost, metrics: ShardMetrics
    ) -> None:
        self._shard = shard
        self._clock = clock
        self._host = host
        self._metrics = metrics

    def set_timer(self, live_call: LiveCall) -> None:
        """Set a call's timer to its next deadline, or cancel it when there is none."""
        live_call.arm(self._clock, partial(self._on_timer, live_call))

    def deliver_logged_digits(self, live_call: LiveCall) -> None:
        """Step a call by the digits that AMI reported and the websocket has not delivered.

        The websocket may be lost without notice; digits pressed earlier must be handled earlier.
        """
        now = self._clock.now_ms()
        for digit in undelivered_digits(live_call.call, self._host.logged_digits(), now):
            self._shard.step(live_call, digit)

    def _on_timer(self, live_call: LiveCall) -> None:
        live_call.timer = None
        self._metrics.timer_fired(self._clock.now_ms() - live_call.armed_ms)
        if self._shard.is_paused:
            return  # the shard sets the timers again when it resumes
        with self._shard.guard(live_call, "timer"):
            self._fire(live_call)

    def _fire(self, live_call: LiveCall) -> None:
        # A timer may fire a millisecond early.
        has_effect = self._pass(live_call) if live_call.is_due(self._clock) else True
        if live_call.timer is not None or live_call.call.id not in self._shard.calls:
            return
        if has_effect:
            self.set_timer(live_call)
        else:
            self._postpone(live_call)

    def _postpone(self, live_call: LiveCall) -> None:
        """Wait, after a fault of the core: firing at once again would take the whole CPU."""
        log.error("deadline had no effect", call_id=live_call.call.id)
        live_call.arm_at(
            self._clock.now_ms() + POSTPONED_MS, self._clock, partial(self._on_timer, live_call)
        )

    def _pass(self, live_call: LiveCall) -> bool:
        """Step a call by its deadline, unless a digit pressed in time has moved it.

        Return False if the step had no effect. A digit pressed in time precedes its timeout, and
        so may a key that is still down.
        """
        self.deliver_logged_digits(live_call)
        if live_call.is_due(self._clock):
            self._report_keys_down(live_call)
        if live_call.is_due(self._clock):
            before = live_call.call
            self._shard.feed(live_call, DeadlinePassed())
            return live_call.call is not before
        return True

    def _report_keys_down(self, live_call: LiveCall) -> None:
        """Step a call by the keys that are down, for which its gather may wait."""
        keys_down, logged = self._host.keys_down(), self._host.logged_digits()
        for key in keys_at_deadline(live_call.call, keys_down, logged, self._clock.now_ms()):
            self._shard.step(live_call, key)
