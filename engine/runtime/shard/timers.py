"""The timers of a desk's calls: each has one, set to its next deadline."""

from collections.abc import Callable

from engine.calls.model.call import deadline_ms
from engine.runtime.base.clock import Clock
from engine.runtime.shard.actor import Actor
from engine.runtime.shard.metrics import ShardMetrics


class DeadlineTimers:
    """Wakes a desk when something is due in a call."""

    def __init__(self, clock: Clock, meter: ShardMetrics, wake: Callable[[Actor], None]) -> None:
        self._clock = clock
        self._meter = meter
        self._wake = wake

    def set(self, actor: Actor) -> None:
        """Set a call's timer to its deadline, or off when it has none."""
        actor.arm(self._clock, lambda: self._fired(actor))

    def is_due(self, actor: Actor) -> bool:
        """Tell whether a call's deadline is here."""
        due = deadline_ms(actor.call)
        return due is not None and self._clock.now_ms() >= due

    def _fired(self, actor: Actor) -> None:
        actor.timer = None
        # The clock counts whole milliseconds: one on time may seem early, and a sum may not fall.
        self._meter.fired(max(0, self._clock.now_ms() - actor.armed_ms))
        self._wake(actor)
