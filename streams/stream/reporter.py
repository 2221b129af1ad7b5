"""Reports what happens in one stream, and counts it."""

from typing import Literal

from msgspec import Raw

from streams.stream.barge_in import Outcome
from streams.stream.context import StreamContext
from streams.stream.turns import Turn
from wire.decoding.texts import printable
from wire.streams.reports import (
    ActionRequested,
    BargedIn,
    EndReason,
    MarkHeard,
    SpeechChanged,
    StreamConnected,
    StreamEnded,
    Transcribed,
)

MAX_DETAIL_CHARS = 500


class StreamReporter:
    """The reports of one stream but its last."""

    def __init__(self, stream_id: str, context: StreamContext) -> None:
        self._id = stream_id
        self._context = context
        self._accepted_ms: float | None = None  # until the bot has spoken
        self.last_transcript: Transcribed | None = None

    def connected(self, connect_ms: float) -> None:
        """Report that the bot has accepted the stream."""
        self._accepted_ms = self._context.now_ms()
        self._context.metrics.connect_duration.series().observe(connect_ms / 1000)
        self._context.report(StreamConnected(self._id, self._at_ms(), round(connect_ms)))

    def turn(self, turn: Turn, heard_ms: int, now_ms: float) -> None:
        """Report that a side began or ceased to speak."""
        if turn.latency_ms is not None:
            self._context.metrics.turn_latency.series().observe(turn.latency_ms / 1000)
        if self._accepted_ms is not None and not turn.is_caller:
            waited_ms = turn.at_ms - self._accepted_ms
            self._context.metrics.first_audio.series().observe(waited_ms / 1000)
            self._accepted_ms = None
        at_ms = self._at_ms(now_ms - turn.at_ms)
        by: Literal["caller", "bot"] = "caller" if turn.is_caller else "bot"
        self._context.report(
            SpeechChanged(self._id, by, turn.is_speaking, at_ms, heard_ms, turn.latency_ms)
        )

    def mark(self, name: str, heard_ms: int, *, is_cleared: bool) -> None:
        """Report that the audio before a mark was heard or dropped."""
        at_ms = self._at_ms()
        self._context.report(MarkHeard(self._id, reported(name), at_ms, heard_ms, is_cleared))

    def barge_in(self, outcome: Outcome, heard_ms: int) -> None:
        """Report what a sound of the caller did to the bot's audio."""
        self._context.metrics.barge_ins.table()[outcome] += 1
        self._context.report(BargedIn(self._id, outcome, self._at_ms(), heard_ms))

    def prompt(self, outcome: Outcome) -> None:
        """Report what a sound of the caller does to a prompt; not counted, as there may be none."""
        self._context.report(BargedIn(self._id, outcome, self._at_ms(), 0))

    def speech(self, is_speaking: bool, since_ms: float, now_ms: float) -> None:
        """Report what a recognizer hears of the caller, as it was at `since_ms` of the clock."""
        at_ms = self._at_ms(now_ms - since_ms)
        self._context.report(SpeechChanged(self._id, "caller", is_speaking, at_ms, 0))

    def transcript(
        self, text: str, confidence: float, latency_ms: float, *, is_voice: bool
    ) -> None:
        """Report what was understood of an utterance that ended `latency_ms` ago."""
        text = printable(text)
        metrics = self._context.metrics
        metrics.utterances.table()["understood" if text else "not-understood"] += 1
        metrics.transcript_latency.series().observe(latency_ms / 1000)
        transcript = Transcribed(self._id, text, confidence, is_voice, self._at_ms())
        if self.last_transcript is None or not transcript.is_noise:
            self.last_transcript = transcript
        self._context.report(transcript)

    def ended(
        self, reason: EndReason, duration_ms: int, heard_ms: int, last_mark: str, detail: str
    ) -> StreamEnded:
        """Return the last report, and count the end; it is sent when the stream is put away."""
        self._context.metrics.ended.table()[reason] += 1
        return StreamEnded(
            self._id,
            reason,
            self._at_ms(),
            duration_ms,
            heard_ms,
            last_mark,
            printable(detail)[:MAX_DETAIL_CHARS],
            self.last_transcript,
        )

    def dropped(self, reason: Literal["action", "barge-in"]) -> None:
        """Count audio of the bot that is not played."""
        self._context.metrics.dropped_frames.table()[reason] += 1

    def action(self, tree: bytes, heard_ms: int) -> None:
        """Report that the bot wants a tree of verbs to run."""
        self._context.report(ActionRequested(self._id, self._at_ms(), heard_ms, Raw(tree)))

    def _at_ms(self, ago_ms: float = 0.0) -> int:
        return round(self._context.wall_ms() - ago_ms)


MAX_REPORTED_CHARS = 200


def reported(name: str) -> str:
    """Return what reports have of a name; the bot gets all of it back."""
    return printable(name[:MAX_REPORTED_CHARS])


class MarkNames:
    """The marks of one stream; names may be any text, and repeat."""

    def __init__(self) -> None:
        self.last_heard = ""  # as reports have it
        self._count = 0
        self._names: dict[str, str] = {}

    def add(self, name: str) -> str:
        """Return the key of a new mark."""
        self._count += 1
        key = f"m{self._count}"
        self._names[key] = name
        return key

    def take(self, key: str, *, is_cleared: bool) -> str:
        """Return the name of a mark that was heard or cleared."""
        name = self._names.pop(key)
        if not is_cleared:
            self.last_heard = reported(name)
        return name
