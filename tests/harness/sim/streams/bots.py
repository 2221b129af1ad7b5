"""SimBot: a bot at the far end of a stream; its conversation is random."""

import random
from collections.abc import Callable, Iterator
from typing import Literal

from tests.harness.sim.streams.far_end import FarEnd, Host
from wire.streams.reports import (
    ActionRequested,
    BargedIn,
    EndReason,
    MarkHeard,
    Report,
    SpeechChanged,
    StreamConnected,
)

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


MARK_EVERY_MS = 17  # 60 a second: what a gateway lets a bot send


class SimBot(FarEnd):
    """One bot; `rng` makes its choices."""

    def __init__(self, stream: str, host: Host, rng: random.Random) -> None:
        super().__init__(stream, host)
        self._rng = rng

    def connect(self) -> None:
        """Accept the stream, or end it."""
        rng, host = self._rng, self._host
        if self.is_closed:
            return
        if rng.random() < 0.15:
            host.finish(self.stream, rng.choice(FAILURES))
            return
        self.is_connected = True
        self._tell(StreamConnected(self.stream, host.now_ms(), 20))
        at_ms = 0.0
        for report in self._conversation(host.now_ms()):
            at_ms += rng.uniform(50, 2_000)
            host.after(at_ms, self._tell, report)
        if rng.random() < 0.8:
            end = rng.choice(ENDS)
            host.after(at_ms + rng.uniform(5, 5_000), host.finish, self.stream, end)

    def _conversation(self, now: int) -> Iterator[Report]:
        stream, rng = self.stream, self._rng
        for turn in range(rng.choice((0, 1, 3))):
            yield SpeechChanged(stream, "caller", True, now, self.heard_ms)
            yield SpeechChanged(stream, "caller", False, now, self.heard_ms)
            yield SpeechChanged(stream, "bot", True, now, self.heard_ms, 400)
            self.heard_ms += rng.randrange(100, 2_000)
            kind = rng.random()
            if kind < 0.3:
                yield BargedIn(stream, "paused", now, self.heard_ms)
                yield BargedIn(stream, rng.choice(OUTCOMES), now, self.heard_ms)
            elif kind < 0.6:
                self.last_mark = f"turn {turn}"
                yield MarkHeard(stream, self.last_mark, now, self.heard_ms)
            elif kind < 0.8:
                action = rng.choice(ACTIONS)
                yield ActionRequested(stream, now, self.heard_ms, action)
            yield SpeechChanged(stream, "bot", False, now, self.heard_ms)


class FloodingBot(FarEnd):
    """A bot that sends marks as fast as it may, for as long as its stream lasts."""

    def __init__(self, stream: str, host: Host, _rng: random.Random) -> None:
        super().__init__(stream, host)
        self._marks = 0

    def connect(self) -> None:
        """Accept the stream."""
        if not self.is_closed:
            self.is_connected = True
            self._tell(StreamConnected(self.stream, self._host.now_ms(), 20))
            self._send_mark()

    def _send_mark(self) -> None:
        if not self.is_closed:
            self._marks += 1
            self.last_mark = f"mark {self._marks}"
            mark = MarkHeard(self.stream, self.last_mark, self._host.now_ms(), self.heard_ms)
            self._tell(mark)
            self._host.after(MARK_EVERY_MS, self._send_mark)


MakeBot = Callable[[str, Host, random.Random], FarEnd]
