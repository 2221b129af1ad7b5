"""Planted faults: parts of an engine that are broken on purpose, each to be found by a check."""

import itertools
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from engine.ari.generated.events import ChannelDtmfReceived
from engine.calls.model.call import Call
from engine.calls.model.events import Event
from engine.calls.model.io_commands import IoCommand, LoadFlowNode, PrefetchMedia, SendWebhook
from engine.runtime.base.clock import Clock, Timer
from engine.runtime.base.ports import IoRunner, Writer
from engine.store.change import Change
from tests.sim.engine_run import OnEvent
from wire.media import Clip, Source


class DroppingListener:
    """Loses every so-manieth event of a kind, with its websocket up."""

    def __init__(self, on_event: OnEvent, kind: type, every: int = 3) -> None:
        self._on_event = on_event
        self._kind = kind
        self._every = every
        self._count = itertools.count(1)

    def __call__(self, event: Any) -> None:
        """Hear an event, or not."""
        if not isinstance(event, self._kind) or next(self._count) % self._every:
            self._on_event(event)


class DoublingListener:
    """Hears every key twice."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event

    def __call__(self, event: Any) -> None:
        """Hear an event."""
        self._on_event(event)
        if isinstance(event, ChannelDtmfReceived):
            self._on_event(event)


class StoppedClock:
    """Never calls back."""

    def __init__(self, clock: Clock) -> None:
        self.now_ms = clock.now_ms

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        """Set a timer that stays as it is."""
        del when_ms, callback
        return self

    def cancel(self) -> None:
        """Call it off."""


class SlowClock:
    """Calls back half a second late."""

    def __init__(self, clock: Clock) -> None:
        self.now_ms = clock.now_ms
        self._clock = clock

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        """Set a timer."""
        return self._clock.call_at(when_ms + 500, callback)


class _WriterProxy:
    def __init__(self, writer: Writer, every: int = 1) -> None:
        self._writer = writer
        self._every = every
        self._count = itertools.count(1)

    @property
    def is_healthy(self) -> bool:
        """See Writer."""
        return self._writer.is_healthy

    @is_healthy.setter
    def is_healthy(self, healthy: bool) -> None:
        self._writer.is_healthy = healthy

    @property
    def is_overloaded(self) -> bool:
        """See Writer."""
        return self._writer.is_overloaded

    @property
    def pending_count(self) -> int:
        """See Writer."""
        return self._writer.pending_count

    def rewrite(self, change: Change) -> None:
        """See Writer."""
        self._writer.rewrite(change)


class LosingWriter(_WriterProxy):
    """Says of every so-manieth change that it is stored, and loses it."""

    def write(self, change: Change, done: Callable[[], None], *, urgent: bool = True) -> None:
        """Write a change, or not."""
        if next(self._count) % self._every:
            self._writer.write(change, done, urgent=urgent)
        else:
            done()


class EarlyWriter(_WriterProxy):
    """Says that a change is stored before it is."""

    def write(self, change: Change, done: Callable[[], None], *, urgent: bool = True) -> None:
        """Write a change."""
        self._writer.write(change, lambda: None, urgent=urgent)
        done()


class DuplicatingWriter(_WriterProxy):
    """Tells some things twice."""

    def write(self, change: Change, done: Callable[[], None], *, urgent: bool = True) -> None:
        """Write a change."""
        if change.events and not next(self._count) % self._every:
            change = replace(change, events=(*change.events, change.events[-1]))
        self._writer.write(change, done, urgent=urgent)


class _IoRunnerProxy:
    def __init__(self, io_runner: IoRunner) -> None:
        self._io_runner = io_runner

    def cached_clips(self, sources: tuple[Source, ...]) -> tuple[Clip, ...] | None:
        """See Errands."""
        return self._io_runner.cached_clips(sources)

    def cached_node(self, command: LoadFlowNode, call: Call) -> Event | None:
        """Pass on."""
        return self._io_runner.cached_node(command, call)

    def prefetch(self, command: PrefetchMedia) -> None:
        """See Errands."""
        self._io_runner.prefetch(command)


class ForgingIoRunner(_IoRunnerProxy):
    """Asks a webhook once more, with the same id and another body."""

    def run(self, command: IoCommand, call: Call, done: Callable[[Event], None]) -> None:
        """Run an errand, then its forgery."""

        def ended(event: Event) -> None:
            done(event)
            if isinstance(command, SendWebhook):
                forged = replace(command, body=b"{}")
                self._io_runner.run(forged, call, done)

        self._io_runner.run(command, call, ended)


class IdleIoRunner(_IoRunnerProxy):
    """Never comes back from an errand."""

    def run(self, command: IoCommand, call: Call, done: Callable[[Event], None]) -> None:
        """Run an errand for nobody."""
        del done
        self._io_runner.run(command, call, lambda _event: None)
