"""Deadline timers: each call of a shard has one, set to its next deadline."""

from collections.abc import Callable

from engine.calls.model.call import deadline_ms
from engine.runtime.base.clock import Clock
from engine.runtime.shard.actor import Actor
from engine.runtime.shard.metrics import ShardMetrics


class DeadlineTimers:
    """Calls `on_due` when a call's deadline passes."""

    def __init__(
        self, clock: Clock, metrics: ShardMetrics, on_due: Callable[[Actor], None]
    ) -> None:
        self._clock = clock
        self._metrics = metrics
        self._on_due = on_due

    def set(self, actor: Actor) -> None:
        """Set a call's timer to its deadline, or cancel it when there is none."""
        actor.arm(self._clock, lambda: self._fire(actor))

    def is_due(self, actor: Actor) -> bool:
        """Return whether a call's deadline has passed."""
        due = deadline_ms(actor.call)
        return due is not None and self._clock.now_ms() >= due

    def _fire(self, actor: Actor) -> None:
        actor.timer = None
        # The clock has whole milliseconds: a punctual timer may seem early.
        self._metrics.timer_fired(max(0, self._clock.now_ms() - actor.armed_ms))
        self._on_due(actor)
