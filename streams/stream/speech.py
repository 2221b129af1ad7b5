"""Finds speech by its energy: the beginning and the end of what one side says."""

from streams.stream.audio import FRAME_MS

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
