"""Planted faults: broken parts of an engine that a check must find."""

import itertools
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from engine.ari.generated.events import ChannelDtmfReceived
from engine.calls.model.call import Call
from engine.calls.model.events import Event
from engine.calls.model.io_commands import IoCommand, LoadFlowNode, PrefetchMedia, SendWebhook
from engine.runtime.base.clock import Clock, Timer
from engine.runtime.io.command_runner import IoRunner
from engine.store.change import Change
from engine.store.writer import Writer
from tests.sim.engine_run import OnEvent
from wire.media import Clip, Source


class DroppingListener:
    """Drops every nth event of a kind."""

    def __init__(self, on_event: OnEvent, kind: type, every: int = 3) -> None:
        self._on_event = on_event
        self._kind = kind
        self._every = every
        self._count = itertools.count(1)

    def __call__(self, event: Any) -> None:
        if not isinstance(event, self._kind) or next(self._count) % self._every:
            self._on_event(event)


class DoublingListener:
    """Handles every digit twice."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event

    def __call__(self, event: Any) -> None:
        self._on_event(event)
        if isinstance(event, ChannelDtmfReceived):
            self._on_event(event)


class StoppedClock:
    """Never runs a timer."""

    def __init__(self, clock: Clock) -> None:
        self.now_ms = clock.now_ms
        self.offset_ms = clock.offset_ms

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        del when_ms, callback
        return self

    def cancel(self) -> None: ...


class SlowClock:
    """Runs timers half a second late."""

    def __init__(self, clock: Clock) -> None:
        self.now_ms = clock.now_ms
        self.offset_ms = clock.offset_ms
        self._clock = clock

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        return self._clock.call_at(when_ms + 500, callback)


class _WriterProxy(Writer):
    def __init__(self, writer: Writer, every: int = 1) -> None:
        self._writer = writer
        self._every = every
        self._count = itertools.count(1)

    @property
    def is_healthy(self) -> bool:
        return self._writer.is_healthy

    @is_healthy.setter
    def is_healthy(self, healthy: bool) -> None:
        self._writer.is_healthy = healthy

    @property
    def is_overloaded(self) -> bool:
        return self._writer.is_overloaded

    @property
    def pending_count(self) -> int:
        return self._writer.pending_count

    @property
    def lag_s(self) -> float:
        return self._writer.lag_s

    def rewrite(self, change: Change) -> None:
        self._writer.rewrite(change)

    def mark_sent(self, call_id: str) -> None:
        self._writer.mark_sent(call_id)


class LosingWriter(_WriterProxy):
    """Acknowledges every nth change without writing it."""

    def write(self, change: Change, done: Callable[[], None], *, urgent: bool = True) -> None:
        if next(self._count) % self._every:
            self._writer.write(change, done, urgent=urgent)
        else:
            done()


class EarlyWriter(_WriterProxy):
    """Acknowledges changes before they are stored."""

    def write(self, change: Change, done: Callable[[], None], *, urgent: bool = True) -> None:
        self._writer.write(change, lambda: None, urgent=urgent)
        done()


class DuplicatingWriter(_WriterProxy):
    """Publishes the last event of every nth change twice."""

    def write(self, change: Change, done: Callable[[], None], *, urgent: bool = True) -> None:
        if change.events and not next(self._count) % self._every:
            change = replace(change, events=(*change.events, change.events[-1]))
        self._writer.write(change, done, urgent=urgent)


class _IoRunnerProxy(IoRunner):
    def __init__(self, io_runner: IoRunner) -> None:
        self._io_runner = io_runner

    def cached_clips(self, account: str, sources: tuple[Source, ...]) -> tuple[Clip, ...] | None:
        return self._io_runner.cached_clips(account, sources)

    def silent(self, account: str, sources: tuple[Source, ...]) -> tuple[str, ...]:
        return self._io_runner.silent(account, sources)

    def cached_node(self, command: LoadFlowNode, call: Call) -> Event | None:
        return self._io_runner.cached_node(command, call)

    def seal_digit(self, call_id: str, digit: str) -> str:
        return self._io_runner.seal_digit(call_id, digit)

    def prefetch(self, call: Call, command: PrefetchMedia) -> None:
        self._io_runner.prefetch(call, command)

    def release(self, call_id: str) -> None:
        self._io_runner.release(call_id)


class ForgingIoRunner(_IoRunnerProxy):
    """Sends each webhook again with the same request id and another body."""

    def run(self, command: IoCommand, call: Call, done: Callable[[Event], None]) -> None:
        def ended(event: Event) -> None:
            done(event)
            if isinstance(command, SendWebhook):
                forged = replace(command, body=b"{}")
                self._io_runner.run(forged, call, done)

        self._io_runner.run(command, call, ended)


class LivingIoRunner(_IoRunnerProxy):
    """Sends no webhook of a call that has ended."""

    def run(self, command: IoCommand, call: Call, done: Callable[[Event], None]) -> None:
        if not call.is_ended:
            self._io_runner.run(command, call, done)


class IdleIoRunner(_IoRunnerProxy):
    """Never returns a result."""

    def run(self, command: IoCommand, call: Call, done: Callable[[Event], None]) -> None:
        del done
        self._io_runner.run(command, call, lambda _event: None)
