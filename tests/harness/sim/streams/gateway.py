"""SimGateway: a simulated stream gateway with simulated bots, which outlives engines.

It does what `streams` does towards PBX and engines: it connects a channel, reports what the bot
does, and reports the end of a stream before its channel ends.
"""

import random
from collections.abc import Callable, Iterator
from typing import Literal, Protocol

from msgspec import Struct

from engine.streams.client import ReportListener
from tests.harness.sim.clock import SimClock
from tests.harness.sim.loop import SimLoop
from wire.streams.reports import (
    ActionRequested,
    BargedIn,
    EndReason,
    LiveStream,
    MarkHeard,
    Report,
    Snapshot,
    SpeechChanged,
    StreamConnected,
    StreamEnded,
)
from wire.streams.setup import StreamMessage

ENDS: tuple[EndReason, ...] = ("bot-closed", "bot-closed", "bot-lost", "invalid-message")
FAILURES: tuple[EndReason, ...] = ("unreachable", "no-websocket")
OUTCOMES: tuple[Literal["resumed", "flushed"], ...] = ("resumed", "flushed")
ACTIONS = (
    {"type": "say", "data": {"text": "300/5/ok"}},
    {"type": "gather", "data": {"maxDigits": 1, "timeout": 500}},
    {"type": "dial", "data": {"number": "+470001"}, "timeout": 2},
    {"type": "say", "data": {}},
    {"type": "hangup"},
)


class StreamPbx(Protocol):
    """What a gateway does at a PBX."""

    on_socket_closed: Callable[[str], None]  # called with a stream whose channel has ended

    def connects(self, channel_id: str) -> bool:
        """Connect the websocket of a channel; return whether it waits for that."""

    def closes(self, channel_id: str) -> None:
        """Close the websocket of a channel, which ends it."""


class _Reader(Struct, frozen=True):
    listener: ReportListener
    loop: SimLoop


class _SimStream:
    def __init__(self) -> None:
        self.is_connected = False
        self.heard_ms = 0
        self.last_mark = ""


class SimGateway:
    """One gateway beside one PBX."""

    def __init__(self, clock: SimClock, pbx: StreamPbx, rng: random.Random) -> None:
        self.is_up = True
        self.starts: list[str] = []  # every stream that was set up
        self.messages: dict[str, StreamMessage] = {}  # by id
        self._clock = clock
        self._pbx = pbx
        self._rng = rng
        self._live: dict[str, _SimStream] = {}
        self._ended: dict[str, StreamEnded] = {}
        self._readers: list[_Reader] = []
        pbx.on_socket_closed = self._on_socket_closed

    @property
    def live(self) -> tuple[str, ...]:
        """The streams that it has."""
        return tuple(self._live)

    def read(self, listener: ReportListener, loop: SimLoop) -> None:
        """Report to an engine from now on."""
        reader = _Reader(listener, loop)
        self._readers.append(reader)
        if self.is_up:
            self._connect(reader)
        else:
            self._clock.after(1, listener.on_disconnected, loop)

    def forget(self, loop: SimLoop) -> None:
        """Report no more to an engine that has died."""
        self._readers = [each for each in self._readers if each.loop is not loop]

    def set_up(self, stream: str) -> None:
        """Set a stream up; the same one again changes nothing."""
        if stream in self._live or stream in self._ended:
            return
        self.starts.append(stream)
        self._live[stream] = _SimStream()
        self._clock.after(2 + 5 * self._rng.random(), self._connect_pbx, self, stream)
        self._clock.after(self._rng.choice((3, 30, 300)), self._connect_bot, self, stream)

    def end(self, stream: str) -> None:
        """End a stream, and forget it."""
        self._live.pop(stream, None)
        self._ended.pop(stream, None)
        self._pbx.closes(stream)

    def die(self) -> None:
        """Lose all streams, as by SIGKILL."""
        self.is_up = False
        lost, self._live, self._ended = list(self._live), {}, {}
        self._clock.forget(self)
        for reader in self._readers:
            self._clock.after(1, reader.listener.on_disconnected, reader.loop)
        for stream in lost:
            self._pbx.closes(stream)

    def start(self) -> None:
        """Start again."""
        self.is_up = True
        for reader in self._readers:
            self._connect(reader)

    def _connect(self, reader: _Reader) -> None:
        self._clock.after(1, reader.listener.on_connected, reader.loop)
        live = tuple(
            LiveStream(stream, each.is_connected, each.heard_ms, each.last_mark)
            for stream, each in self._live.items()
        )
        snapshot = Snapshot(live, tuple(self._ended.values()))
        self._clock.after(1.1, reader.listener.on_report, reader.loop, snapshot)

    def _report(self, report: Report) -> None:
        for reader in self._readers:
            self._clock.after(0.5, reader.listener.on_report, reader.loop, report)

    def _connect_pbx(self, stream: str) -> None:
        if stream in self._live and not self._pbx.connects(stream):
            self._finish(stream, "pbx-unreachable")

    def _connect_bot(self, stream: str) -> None:
        found = self._live.get(stream)
        if found is None:
            return
        if self._rng.random() < 0.15:
            self._finish(stream, self._rng.choice(FAILURES))
            return
        found.is_connected = True
        self._report(StreamConnected(stream, self._now, 20))
        at_ms = 0.0
        for report in self._conversation(stream, found):
            at_ms += self._rng.uniform(50, 2_000)
            self._clock.after(at_ms, self._say, self, stream, report)
        if self._rng.random() < 0.8:
            end = self._rng.choice(ENDS)
            self._clock.after(at_ms + self._rng.uniform(5, 5_000), self._finish, self, stream, end)

    def _conversation(self, stream: str, found: _SimStream) -> Iterator[Report]:
        for turn in range(self._rng.choice((0, 1, 3))):
            yield SpeechChanged(stream, "caller", True, self._now, found.heard_ms)
            yield SpeechChanged(stream, "caller", False, self._now, found.heard_ms)
            yield SpeechChanged(stream, "bot", True, self._now, found.heard_ms, 400)
            found.heard_ms += self._rng.randrange(100, 2_000)
            kind = self._rng.random()
            if kind < 0.3:
                yield BargedIn(stream, "paused", self._now, found.heard_ms)
                yield BargedIn(stream, self._rng.choice(OUTCOMES), self._now, found.heard_ms)
            elif kind < 0.6:
                found.last_mark = f"turn {turn}"
                yield MarkHeard(stream, found.last_mark, self._now, found.heard_ms)
            elif kind < 0.8:
                action = self._rng.choice(ACTIONS)
                yield ActionRequested(stream, self._now, found.heard_ms, action)
            yield SpeechChanged(stream, "bot", False, self._now, found.heard_ms)

    def _say(self, stream: str, report: Report) -> None:
        if stream in self._live:
            self._report(report)

    def _on_socket_closed(self, stream: str) -> None:
        self._clock.after(0.3, self._finish, self, stream, "pbx-lost")

    def _finish(self, stream: str, reason: EndReason) -> None:
        found = self._live.pop(stream, None)
        if found is None:
            return
        ended = StreamEnded(
            stream, reason, self._now, int(found.is_connected), found.heard_ms, found.last_mark
        )
        self._ended[stream] = ended
        self._report(ended)
        self._clock.after(0.6, self._pbx.closes, self, stream)

    @property
    def _now(self) -> int:
        return self._clock.now_ms()
