"""What a recognizer makes of a caller's audio: utterances, transcripts, and barge-in.

Time passes for a recognizer by audio only. So what the caller says before it is connected is kept,
and silence replaces what a telephone does not send.
"""

from collections import deque
from collections.abc import Callable

from msgspec import Struct

from streams.bots.limits import MAX_UTTERANCES, RateLimit, TooFast
from streams.bots.protocols.messages import (
    InvalidMessage,
    Ready,
    RecognizerMessage,
    SpeechBegan,
    SpeechStopped,
    Understood,
)
from streams.stream.audio import FRAME_MS, AudioFormat
from streams.stream.barge_in import OUTCOMES, Decision
from streams.stream.ear import UtteranceEar
from streams.stream.reporter import StreamReporter

READY_MS = 5_000  # from its connection until it accepts the start
GAP_MS = 200  # without a frame: the telephone sends no silence
MAX_EARLY = 250  # frames, as long as a connection may take
MAX_WAITING = 100  # utterances without a transcript


class _Utterance(Struct, frozen=True):
    """An utterance that waits for its transcript."""

    ended_ms: float
    is_voice: bool


class Transcription:
    """The transcription of one stream; all times are milliseconds of one clock."""

    _frame_ms: float  # when the last frame came, or was replaced

    def __init__(
        self,
        ear: UtteranceEar,
        audio: AudioFormat,
        reporter: StreamReporter,
        send: Callable[[bytes], None],
    ) -> None:
        self._ear = ear
        self._silence = audio.silence
        self._reporter = reporter
        self._send = send
        self._connected_ms: float | None = None
        self._is_ready = False
        self._early: deque[bytes] = deque(maxlen=MAX_EARLY)
        self._gap_ms = GAP_MS
        self._is_speaking = False
        self._waiting: deque[_Utterance] = deque()
        self._utterances = RateLimit(MAX_UTTERANCES, 10_000)

    def is_late(self, now_ms: float) -> bool:
        """Return whether the recognizer has not accepted its start in time."""
        since_ms = self._connected_ms
        return since_ms is not None and not self._is_ready and now_ms - since_ms >= READY_MS

    def connected(self, now_ms: float) -> None:
        """Send what the caller has said so far."""
        self._connected_ms = self._frame_ms = now_ms
        early, self._early = self._early, deque()
        for frame in early:
            self._pass_on(frame, now_ms)

    def hear(self, frame: bytes, now_ms: float) -> None:
        """Take a frame of the caller's."""
        self._frame_ms, self._gap_ms = now_ms, GAP_MS
        if self._connected_ms is None:
            self._early.append(frame)
        else:
            self._pass_on(frame, now_ms)

    def tick(self, now_ms: float) -> None:
        """Time has passed."""
        if self._connected_ms is None:
            return
        if now_ms - self._frame_ms >= self._gap_ms:
            self._gap_ms = FRAME_MS
            while now_ms - self._frame_ms >= FRAME_MS:
                self._frame_ms += FRAME_MS
                self._pass_on(self._silence, now_ms)
        self._report(self._ear.tick(now_ms))

    def read(self, message: RecognizerMessage, now_ms: float) -> None:
        """Take a message of the recognizer; raises InvalidMessage and TooFast."""
        match message:
            case Ready():
                self._is_ready = True
            case SpeechBegan(at_ms):
                self._begin(at_ms, now_ms)
            case SpeechStopped(at_ms):
                self._stop(at_ms, now_ms)
            case Understood(text, confidence):
                self._understand(text, confidence, now_ms)

    def end(self) -> None:
        """Take the end of the stream; a prompt that is paused continues."""
        if self._ear.is_paused:
            self._report("resume")
        self._ear.end()

    def _pass_on(self, frame: bytes, now_ms: float) -> None:
        self._send(frame)
        # A recognizer that is not there yet, and may never be, must not cost a prompt.
        self._report(self._ear.hear(frame, self._is_ready, now_ms))

    def _begin(self, at_ms: int, now_ms: float) -> None:
        if self._is_speaking:
            raise InvalidMessage("a `speech-started` during an utterance")
        if self._utterances.is_exceeded(now_ms):
            raise TooFast(f"more than {MAX_UTTERANCES} utterances in ten seconds")
        self._is_speaking = True
        at_ms = self._position(at_ms)
        self._ear.utterance_began(at_ms)
        self._reporter.speech(True, self._time_of(at_ms, now_ms), now_ms)

    def _stop(self, at_ms: int, now_ms: float) -> None:
        if not self._is_speaking:
            raise InvalidMessage("a `speech-ended` without its `speech-started`")
        if len(self._waiting) >= MAX_WAITING:
            raise InvalidMessage(f"{MAX_WAITING} utterances have no `final`")
        self._is_speaking = False
        ended_ms = self._time_of(self._position(at_ms), now_ms)
        self._waiting.append(_Utterance(ended_ms, self._ear.utterance_ended()))
        self._reporter.speech(False, ended_ms, now_ms)

    def _understand(self, text: str, confidence: float, now_ms: float) -> None:
        if not self._waiting:
            raise InvalidMessage("a `final` without its `speech-ended`")
        ended = self._waiting.popleft()
        latency_ms = now_ms - ended.ended_ms
        self._reporter.transcript(text, confidence, latency_ms, is_voice=ended.is_voice)

    def _position(self, at_ms: int) -> int:
        return min(max(at_ms, 0), self._ear.heard_ms)

    def _time_of(self, at_ms: int, now_ms: float) -> float:
        return now_ms - (self._ear.heard_ms - at_ms)

    def _report(self, decision: Decision | None) -> None:
        if decision is not None:
            self._reporter.prompt(OUTCOMES[decision])
