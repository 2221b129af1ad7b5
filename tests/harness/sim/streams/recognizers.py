"""SimRecognizer: a recognizer at the far end of a stream, with the gateway's ear for the caller.

It reports what `streams.stream.transcription` reports: barge-in by the mode of the setup, when an
utterance begins and is over, and its transcript.
"""

from msgspec import Struct

from streams.stream.barge_in import MAX_PAUSE_MS, QUIET_MS, Outcome
from tests.harness.sim.streams.callers import Callers, Utterance
from tests.harness.sim.streams.far_end import FarEnd, Host
from wire.streams.recognizer import RecognizerStart
from wire.streams.reports import BargedIn, SpeechChanged, StreamConnected, Transcribed
from wire.streams.setup import BargeIn

NOTICED_MS = 60  # after it began, the recognizer notices an utterance


class Noticed(Struct):
    """An utterance as the recognizer reported it; its end is that of its transcript."""

    began_ms: int
    ended_ms: int | None = None


class SimRecognizer(FarEnd):
    """One recognizer; it hears its caller only where the PBX sends the caller's audio."""

    def __init__(
        self, stream: str, start: RecognizerStart, barge_in: BargeIn, host: Host, callers: Callers
    ) -> None:
        super().__init__(stream, host)
        self.transcripts: list[Transcribed] = []
        self.utterances: list[Noticed] = []
        self.interruptions: list[tuple[Outcome, float]] = []
        self.is_hung = False  # it understands no more
        self._start = start
        self._barge_in = barge_in
        self._callers = callers
        self._is_paused = False
        self._transcript_ms = 0.0  # when the last transcript is due

    def connect(self) -> None:
        """Accept the stream and listen, or end it."""
        host, failure, loss = self._host, self._callers.failure(), self._callers.loss()
        if self.is_closed:
            return
        if failure is not None:
            host.finish(self.stream, *failure)
            return
        self.is_connected = True
        self._tell(StreamConnected(self.stream, host.now_ms(), 20))
        at_ms = 0.0
        for silence_ms, utterance in self._callers.utterances(self._start):
            at_ms += silence_ms
            host.after(at_ms, self.hear, utterance)
            at_ms += utterance.length_ms + self._start.silence_ms
        if loss is not None:
            after_ms, reason, detail = loss
            host.after(after_ms, host.finish, self.stream, reason, detail)

    def close(self) -> None:
        """Take the end of the stream; a prompt that is paused continues."""
        self._interrupt("resumed")
        super().close()

    def hear(self, utterance: Utterance) -> None:
        """Hear a sound from now on."""
        if self.is_closed or not self.is_connected or not self._host.hears_caller(self.stream):
            return
        if self._barge_in == "flush":
            self._tell_sound("flushed")
        elif self._barge_in == "pause":
            self._pause(utterance)
        if utterance.is_noticed:
            self._host.after(NOTICED_MS, self._begin, utterance)

    def _pause(self, utterance: Utterance) -> None:
        self._is_paused = True
        self._tell_sound("paused")
        over_ms = min(utterance.length_ms + QUIET_MS, MAX_PAUSE_MS)
        self._host.after(over_ms, self._interrupt, "resumed")
        if utterance.is_voice:
            self._host.after(utterance.judged_ms, self._flush)

    def _interrupt(self, outcome: Outcome) -> None:
        if self._is_paused:
            self._is_paused = False
            self._tell_sound(outcome)

    def _flush(self) -> None:
        self._is_paused = True  # or it has resumed, but continued to sound
        self._interrupt("flushed")

    def _begin(self, utterance: Utterance) -> None:
        if self.is_closed:
            return
        self.utterances.append(Noticed(self._host.now_ms()))
        self._tell_speech(is_speaking=True)
        rest_ms = max(1.0, utterance.length_ms - NOTICED_MS + self._start.silence_ms)
        self._host.after(rest_ms, self._end, utterance, self.utterances[-1])

    def _end(self, utterance: Utterance, noticed: Noticed) -> None:
        self._tell_speech(is_speaking=False)
        if utterance.latency_ms is None:
            self.is_hung = True
        if self.is_hung or utterance.latency_ms is None:
            return
        now_ms = self._host.now_ms()
        self._transcript_ms = max(now_ms + utterance.latency_ms, self._transcript_ms + 1)
        self._host.after(self._transcript_ms - now_ms, self._understand, utterance, noticed)

    def _understand(self, utterance: Utterance, noticed: Noticed) -> None:
        if self.is_closed:
            return
        noticed.ended_ms = now = self._host.now_ms()
        transcript = Transcribed(
            self.stream, utterance.text, utterance.confidence, utterance.is_voice, now
        )
        if self.transcript is None or not transcript.is_noise:
            self.transcript = transcript
        self.transcripts.append(transcript)
        self._tell(transcript)

    def _tell_sound(self, outcome: Outcome) -> None:
        now = self._host.now_ms()
        if not self.is_closed:
            self.interruptions.append((outcome, now))
        self._tell(BargedIn(self.stream, outcome, now, 0))

    def _tell_speech(self, *, is_speaking: bool) -> None:
        now = self._host.now_ms()
        self._tell(SpeechChanged(self.stream, "caller", is_speaking, now, 0))
