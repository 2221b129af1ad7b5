"""Who speaks: the turns of caller and bot, and how long the bot's responses take."""

from msgspec import Struct

from streams.stream.audio import FRAME_MS


class Turn(Struct, frozen=True):
    """A side began or ceased to speak."""

    is_caller: bool
    is_speaking: bool
    at_ms: float
    latency_ms: int | None = None


class Turns:
    """The turns of one stream; all times are milliseconds of one clock."""

    def __init__(self) -> None:
        self.caller = SpeechDetector()
        self._is_bot_speaking = False
        self._caller_ended_ms: float | None = None  # when the caller ceased, until the bot responds

    def hear_caller(self, level: int, now_ms: float) -> Turn | None:
        """Take a frame of the caller's."""
        caller = self.caller
        if not caller.hear(level, now_ms):
            return None
        if caller.is_speaking:
            self._caller_ended_ms = None
            return Turn(True, True, caller.began_ms)
        self._caller_ended_ms = caller.ended_ms
        return Turn(True, False, caller.ended_ms)

    def hear_bot(self, audible_until_ms: float, now_ms: float) -> Turn | None:
        """Take the end of the bot's audible audio that the PBX has."""
        if not self._is_bot_speaking:
            if audible_until_ms <= now_ms:
                return None
            self._is_bot_speaking = True
            latency_ms, self._caller_ended_ms = self._latency_ms(now_ms), None
            return Turn(False, True, now_ms, latency_ms)
        if now_ms - audible_until_ms < HANGOVER_MS:
            return None
        self._is_bot_speaking = False
        return Turn(False, False, audible_until_ms)

    def _latency_ms(self, now_ms: float) -> int | None:
        if self._caller_ended_ms is not None:
            return round(now_ms - self._caller_ended_ms)
        # It responds before it is certain that the caller has ceased.
        caller = self.caller
        is_over = caller.is_speaking and caller.quiet_ms > 0
        return round(now_ms - caller.ended_ms) if is_over else None


MIN_LEVEL = 400  # a mean magnitude; about -38 dBFS
OVER_NOISE = 3  # times the noise of the line
ONSET_FRAMES = 2  # a click is shorter
HANGOVER_MS = 300  # quiet for so long: the end, not a pause between words
_NOISE_WEIGHT = 32  # of the past, in frames


class SpeechDetector:
    """One side of a call; `level` is the mean magnitude of each frame of 20 ms.

    The level that begins speech is twice the level that continues it.
    """

    began_ms: float
    ended_ms: float  # of the last loud frame

    def __init__(self) -> None:
        self.is_speaking = False
        self.quiet_ms = 0  # since the last loud frame
        self._loud_frames = 0
        self._noise = 50.0

    def hear(self, level: int, now_ms: float) -> bool:
        """Take the frame that ends now; return whether `is_speaking` has changed."""
        threshold = max(MIN_LEVEL, self._noise * OVER_NOISE)
        if level >= (threshold / 2 if self.is_speaking else threshold):
            return self._loud(now_ms)
        self._loud_frames = 0
        self.quiet_ms += FRAME_MS
        if not self.is_speaking:
            self._noise += (level - self._noise) / _NOISE_WEIGHT
            return False
        if self.quiet_ms < HANGOVER_MS:
            return False
        self.is_speaking = False
        return True

    def _loud(self, now_ms: float) -> bool:
        self.quiet_ms = 0
        self.ended_ms = now_ms
        self._loud_frames += 1
        if self.is_speaking or self._loud_frames < ONSET_FRAMES:
            return False
        self.is_speaking = True
        self.began_ms = now_ms - ONSET_FRAMES * FRAME_MS
        return True
