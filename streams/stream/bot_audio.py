"""A bot's audio on its way to the caller: its marks, and what the caller's sounds do to it."""

from collections.abc import Callable
from typing import Protocol

from streams.stream.audio import AudioFormat
from streams.stream.barge_in import Decision, Muffle
from streams.stream.ear import CallerEar
from streams.stream.playout import AUDIBLE, PbxSink, Playout
from streams.stream.reporter import MarkNames, StreamReporter


class OnMark(Protocol):
    """Takes a mark that was heard or cleared."""

    def __call__(self, name: str, now_ms: float, *, is_cleared: bool) -> None: ...


class BotAudio:
    """The audio of one stream's bot; all times are milliseconds of one clock.

    `on_flush` is called when the caller has interrupted it. With `is_mute` nothing of it is heard.
    """

    def __init__(  # noqa: PLR0913 - what it tells others of
        self,
        sink: PbxSink,
        audio: AudioFormat,
        ear: CallerEar,
        reporter: StreamReporter,
        *,
        on_mark: OnMark,
        on_flush: Callable[[float], None],
        is_mute: bool,
    ) -> None:
        self.is_acting = False  # while an action runs it is not heard, either
        self._playout = Playout(sink, audio)
        self._audio = audio
        self._ear = ear
        self._reporter = reporter
        self._on_mark = on_mark
        self._on_flush = on_flush
        self._is_mute = is_mute
        self._marks = MarkNames()
        self._muffle = Muffle()

    @property
    def last_mark(self) -> str:
        """The last mark that was heard."""
        return self._marks.last_heard

    @property
    def pending_marks(self) -> int:
        """How many marks were neither heard nor cleared."""
        return len(self._playout.marks)

    def heard_ms(self, now_ms: float) -> int:
        """Return how much of it was heard."""
        return self._playout.heard_ms(now_ms)

    def start(self, now_ms: float) -> None:
        """Begin: the PBX is ready."""
        if not self._is_mute:
            self._playout.start(now_ms)

    def end(self) -> None:
        """Listen to the caller no more."""
        self._ear.reset()

    def tick(self, now_ms: float) -> None:
        """Send what is due."""
        self._playout.tick(now_ms)
        if (decision := self._ear.tick(now_ms)) is not None:
            self._decide(decision, now_ms)
        turn = self._ear.turns.hear_bot(self._playout.audible_until_ms, now_ms)
        if turn is not None:
            self._reporter.turn(turn, self.heard_ms(now_ms), now_ms)

    def play(self, data: bytes, now_ms: float) -> None:
        """Take audio of the bot; raises QueueFull."""
        if self._is_mute:
            return
        if self.is_acting:
            self._reporter.dropped("action")
        elif self._muffle.is_active and self._muffle.drops(
            self._audio.level(data) < AUDIBLE, now_ms
        ):
            self._reporter.dropped("barge-in")
        else:
            self._playout.add(data, now_ms)

    def add_mark(self, name: str, now_ms: float) -> None:
        """Take a mark of the bot; raises QueueFull."""
        key = self._marks.add(name)
        if self.is_acting or self._is_mute:
            self._finish_mark(key, now_ms, is_cleared=True)
        else:
            self._playout.add_mark(key, now_ms)

    def mark_returned(self, key: str, now_ms: float) -> None:
        """Take a mark of the PBX: the audio before it was heard."""
        if self._playout.mark_heard(key):
            self._finish_mark(key, now_ms, is_cleared=False)

    def queue_known(self, frames: int) -> None:
        """Take the length of the PBX's queue."""
        self._playout.queue_known(frames)

    def clear(self, now_ms: float) -> None:
        """Drop what was not heard: the bot wants it."""
        self._muffle.end()
        if self._playout.is_paused:
            self._decide("flush", now_ms)
            self._muffle.end()
        else:
            self._drop(now_ms)

    def set_acting(self, is_acting: bool, now_ms: float) -> None:
        """Take the start or the end of an action, before which all audio is dropped."""
        self.is_acting = is_acting
        if is_acting:
            self._drop(now_ms)
            self._playout.resume(now_ms)

    def hear_caller(self, frame: bytes, now_ms: float) -> None:
        """Take a frame of the caller's, who may interrupt the bot."""
        turn, decision = self._ear.hear(frame, self._playout.is_audible(now_ms), now_ms)
        if turn is not None:
            self._reporter.turn(turn, self.heard_ms(now_ms), now_ms)
        if decision is not None:
            self._decide(decision, now_ms)

    def _decide(self, decision: Decision, now_ms: float) -> None:
        match decision:
            case "pause":
                self._playout.pause(now_ms)
                self._reporter.barge_in("paused", self.heard_ms(now_ms))
            case "resume":
                self._playout.resume(now_ms)
                self._reporter.barge_in("resumed", self.heard_ms(now_ms))
            case "flush":
                self._drop(now_ms)
                self._playout.resume(now_ms)
                self._muffle.begin(now_ms)
                self._reporter.barge_in("flushed", self.heard_ms(now_ms))
                self._on_flush(now_ms)

    def _drop(self, now_ms: float) -> None:
        for key in self._playout.clear(now_ms):
            self._finish_mark(key, now_ms, is_cleared=True)
        self._ear.reset()

    def _finish_mark(self, key: str, now_ms: float, *, is_cleared: bool) -> None:
        name = self._marks.take(key, is_cleared=is_cleared)
        self._on_mark(name, now_ms, is_cleared=is_cleared)
