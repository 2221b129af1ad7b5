"""SimGateway: a simulated stream gateway with simulated far ends, which outlives engines.

It does what `streams` does towards PBX and engines: it connects a channel, reports what the bot or
the recognizer does, and reports the end of a stream before its channel ends.
"""

import random
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from engine.runtime.streams.gateway_client import ReportListener
from tests.harness.sim.clock import SimClock
from tests.harness.sim.loop import SimLoop
from tests.harness.sim.streams.bots import MakeBot, SimBot
from tests.harness.sim.streams.callers import Callers
from tests.harness.sim.streams.far_end import FarEnd
from tests.harness.sim.streams.recognizers import SimRecognizer
from wire.streams.reports import EndReason, Report, Snapshot, StreamEnded
from wire.streams.setup import StreamMessage, StreamSetup


class StreamPbx(Protocol):
    """What a gateway does at a PBX."""

    on_socket_closed: Callable[[str], None]  # called with a stream whose channel has ended

    def connects(self, channel_id: str) -> bool:
        """Connect the websocket of a channel; return whether it waits for that."""

    def closes(self, channel_id: str) -> None:
        """Close the websocket of a channel, which ends it."""

    def hears_caller(self, channel_id: str) -> bool:
        """Return whether the websocket of a channel gets what a caller says."""


class _Reader(Struct, frozen=True):
    listener: ReportListener
    loop: SimLoop


class SimGateway:
    """One gateway beside one PBX; `rng` makes the choices of bots."""

    def __init__(
        self,
        clock: SimClock,
        pbx: StreamPbx,
        rng: random.Random,
        callers: Callers,
        make_bot: MakeBot = SimBot,
    ) -> None:
        self.is_up = True
        self.starts: list[str] = []  # every stream that was set up
        self.messages: dict[str, StreamMessage] = {}  # by id
        self.recognizers: dict[str, SimRecognizer] = {}  # all that ever were, by stream
        self.gaps: list[tuple[float, float]] = []  # in which engines got no reports
        self.cuts: list[tuple[float, float]] = []  # likewise, but its streams went on
        self._is_cut = False
        self._gap_ms = self._cut_ms = 0.0  # since when engines get no reports
        self._clock = clock
        self._pbx = pbx
        self._rng = rng
        self._callers = callers
        self._make_bot = make_bot
        self._live: dict[str, FarEnd] = {}
        self._ended: dict[str, StreamEnded] = {}
        self._readers: list[_Reader] = []
        pbx.on_socket_closed = self._on_socket_closed

    @property
    def live(self) -> tuple[str, ...]:
        """The streams that it has."""
        return tuple(self._live)

    # What engines do

    def read(self, listener: ReportListener, loop: SimLoop) -> None:
        """Report to an engine from now on."""
        reader = _Reader(listener, loop)
        self._readers.append(reader)
        if self._is_reporting:
            self._connect(reader)
        else:
            self._clock.after(1, listener.on_disconnected, loop)

    def forget(self, loop: SimLoop) -> None:
        """Report no more to an engine that has died."""
        self._readers = [each for each in self._readers if each.loop is not loop]

    def set_up(self, stream: str, setup: StreamSetup) -> None:
        """Set a stream up; the same one again changes nothing."""
        if stream in self._live or stream in self._ended:
            return
        self.starts.append(stream)
        if setup.recognition is None:
            self._live[stream] = self._make_bot(stream, self, self._rng)
            self.after(2 + 5 * self._rng.random(), self._connect_pbx, stream)
            self.after(self._rng.choice((3, 30, 300)), self._live[stream].connect)
            return
        start = setup.recognition.start
        recognizer = SimRecognizer(stream, start, setup.barge_in, self, self._callers)
        self._live[stream] = recognizer
        self.recognizers.setdefault(stream, recognizer)  # a late repetition hears nobody
        self.after(4, self._connect_pbx, stream)
        self.after(self._callers.connects_after_ms(), recognizer.connect)

    def end(self, stream: str) -> None:
        """End a stream, and forget it."""
        if far_end := self._live.pop(stream, None):
            far_end.close()
        self._ended.pop(stream, None)
        self._pbx.closes(stream)

    # What happens to it

    def die(self) -> None:
        """Lose all streams, as by SIGKILL."""
        self.is_up = False
        lost, self._live, self._ended = self._live, {}, {}
        self._clock.forget(self)
        self._disconnect()
        for stream, far_end in lost.items():
            far_end.close()
            self._pbx.closes(stream)

    def start(self) -> None:
        """Start again."""
        self.is_up = True
        self._reconnect()

    def cut(self) -> None:
        """Cut the websockets for reports; streams and requests go on."""
        self._is_cut = True
        self._cut_ms = self._cut_ms or self._clock.at_ms
        self._disconnect()

    def mend(self) -> None:
        """Let engines connect again."""
        if not self._is_cut:
            return
        self._is_cut = False
        self.cuts.append((self._cut_ms, self._clock.at_ms))
        self._cut_ms = 0.0
        self._reconnect()

    @property
    def _is_reporting(self) -> bool:
        return self.is_up and not self._is_cut

    def _disconnect(self) -> None:
        self._gap_ms = self._gap_ms or self._clock.at_ms
        for reader in self._readers:
            self._clock.after(1, reader.listener.on_disconnected, reader.loop)

    def _reconnect(self) -> None:
        if self._is_reporting and self._gap_ms:
            self.gaps.append((self._gap_ms, self._clock.at_ms))
            self._gap_ms = 0.0
            for reader in self._readers:
                self._connect(reader)

    def _connect(self, reader: _Reader) -> None:
        self._clock.after(1, reader.listener.on_connected, reader.loop)
        live = tuple(each.live() for each in self._live.values())
        snapshot = Snapshot(live, tuple(self._ended.values()))
        self._clock.after(1.1, reader.listener.on_report, reader.loop, snapshot)

    def _connect_pbx(self, stream: str) -> None:
        if stream in self._live and not self._pbx.connects(stream):
            self.finish(stream, "pbx-unreachable")

    def _on_socket_closed(self, stream: str) -> None:
        self.after(0.3, self.finish, stream, "pbx-lost")

    # What far ends do; see Host

    def now_ms(self) -> int:
        """See Host."""
        return self._clock.now_ms()

    def after(self, delay_ms: float, callback: Callable[..., object], *args: object) -> None:
        """See Host."""
        self._clock.after(delay_ms, callback, self, *args)

    def report(self, report: Report) -> None:
        """See Host."""
        if self._is_reporting:
            for reader in self._readers:
                self._clock.after(0.5, reader.listener.on_report, reader.loop, report)

    def finish(self, stream: str, reason: EndReason, detail: str = "") -> None:
        """See Host."""
        far_end = self._live.pop(stream, None)
        if far_end is None:
            return
        far_end.close()
        far_end.ended = self._ended[stream] = StreamEnded(
            stream,
            reason,
            self.now_ms(),
            int(far_end.is_connected),
            far_end.heard_ms,
            far_end.last_mark,
            detail,
            far_end.transcript,
        )
        if recognizer := self.recognizers.get(stream):  # which may be lost, and set up again
            recognizer.ended = recognizer.ended or far_end.ended
        self.report(far_end.ended)
        self.after(0.6, self._pbx.closes, stream)

    def hears_caller(self, stream: str) -> bool:
        """See Host."""
        return self._pbx.hears_caller(stream)
