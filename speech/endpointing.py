"""Finds the beginning and the end of utterances by the level of frames, with hysteresis.

Speech begins after three frames in a row far above the noise, and ends when all frames of
`silence_ms` are close to the noise, or far below the loudest speech. The level of the noise is
followed: down at once, up slowly, so that speech itself is not taken for noise.
"""

from dataclasses import dataclass

from speech.audio import FRAME_MS

_ONSET_FRAMES = 3  # shorter sounds are clicks
_ONSET_DB = 10.0  # above the noise
_SPEECH_DB = 6.0  # above the noise: what continues speech
_BELOW_PEAK_DB = 35.0  # further below the loudest frame there is no speech
_MIN_NOISE_DB, _MAX_NOISE_DB = -65.0, -25.0
_FIRST_NOISE_DB = -55.0  # of a telephone line; the first frames may be speech
_RISE_DB = 3.0 * FRAME_MS / 1000  # a frame: 3 dB a second
_FALL = 0.3  # of the difference, a frame
_PEAK_FALL_DB = 2.0 * FRAME_MS / 1000


@dataclass(frozen=True, slots=True)
class UtteranceStarted:
    """Speech was first heard at `at_ms`."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class UtteranceEnded:
    """Speech was last heard before `end_ms`; `is_cut`: it continues, but is too long."""

    start_ms: int
    end_ms: int
    is_cut: bool = False


Boundary = UtteranceStarted | UtteranceEnded


class Endpointer:
    """Is given the level of each frame in turn, and says where utterances begin and end."""

    def __init__(self, silence_ms: int, max_ms: int) -> None:
        self._silence_ms, self._max_ms = silence_ms, max_ms
        self._now_ms = 0  # the end of the latest frame
        self._noise_db = _FIRST_NOISE_DB
        self._peak_db = _MIN_NOISE_DB
        self._loud_frames = 0  # in a row, before speech
        self._start_ms: int | None = None  # of the utterance
        self._last_speech_ms = 0

    @property
    def now_ms(self) -> int:
        """The audio that was heard so far."""
        return self._now_ms

    @property
    def start_ms(self) -> int | None:
        """Where the present utterance began; None between utterances."""
        return self._start_ms

    def hear(self, level_db: float) -> Boundary | None:
        """Return the boundary that a frame makes certain, if any."""
        self._now_ms += FRAME_MS
        self._follow_noise(level_db)
        if self._start_ms is None:
            return self._wait_for_speech(level_db)
        return self._wait_for_silence(self._start_ms, level_db)

    def end(self) -> UtteranceEnded | None:
        """Return the end of the present utterance, if any: no more audio follows."""
        if self._start_ms is None:
            return None
        return self._ended(self._start_ms, self._last_speech_ms)

    def _follow_noise(self, level_db: float) -> None:
        if level_db < self._noise_db:
            self._noise_db += _FALL * (level_db - self._noise_db)
        else:
            self._noise_db = min(self._noise_db + _RISE_DB, level_db)
        self._noise_db = min(max(self._noise_db, _MIN_NOISE_DB), _MAX_NOISE_DB)

    def _wait_for_speech(self, level_db: float) -> UtteranceStarted | None:
        is_loud = level_db > self._noise_db + _ONSET_DB
        self._loud_frames = self._loud_frames + 1 if is_loud else 0
        if self._loud_frames < _ONSET_FRAMES:
            return None
        self._start_ms = self._now_ms - self._loud_frames * FRAME_MS
        self._last_speech_ms = self._now_ms
        self._peak_db = level_db
        return UtteranceStarted(self._start_ms)

    def _wait_for_silence(self, start_ms: int, level_db: float) -> UtteranceEnded | None:
        self._peak_db = max(self._peak_db - _PEAK_FALL_DB, level_db)
        if level_db > max(self._noise_db + _SPEECH_DB, self._peak_db - _BELOW_PEAK_DB):
            self._last_speech_ms = self._now_ms
        if self._now_ms - self._last_speech_ms >= self._silence_ms:
            return self._ended(start_ms, self._last_speech_ms)
        if self._now_ms - start_ms >= self._max_ms:
            return self._ended(start_ms, self._now_ms, is_cut=True)
        return None

    def _ended(self, start_ms: int, end_ms: int, *, is_cut: bool = False) -> UtteranceEnded:
        self._start_ms, self._loud_frames = None, 0
        return UtteranceEnded(start_ms, end_ms, is_cut)
