"""The lead of a bot: what it sends faster than real time when it begins to speak.

What comes at once after a silence, and is about as long as that silence, is no lead: the bot or its
network has stood still, and what it had sent meanwhile arrives now.
"""

from streams.stream.audio import FRAME_MS

IDLE_MS = 400  # without a frame: what follows begins something new
STEP_MS = 100
MAX_PER_STEP = STEP_MS // FRAME_MS + 2  # frames in real time, one of them late, one early
STALL_SLACK_MS = 100  # a silence and what was held back meanwhile differ by


class Lead:
    """The lead of one bot, since it began; all times are milliseconds of one clock."""

    is_growing: bool
    _before_ms: float  # the lead before the last silence
    _gap_ms: float
    _step_ms: float
    _began_ms: float
    _in_step: int
    _frames: int

    def __init__(self) -> None:
        self.ms = 0.0

    def begin(self, gap_ms: float, now_ms: float) -> None:
        """Measure it anew, after a silence."""
        self._before_ms = self.ms
        self.ms = 0.0
        self.is_growing = True
        self._gap_ms = gap_ms
        self._began_ms = self._step_ms = now_ms
        self._in_step = self._frames = 0

    def take(self, backlog_ms: float, now_ms: float) -> None:
        """Take a frame; it no longer grows once frames come in real time."""
        if now_ms - self._step_ms >= STEP_MS:
            if self._in_step <= MAX_PER_STEP:
                self._end()
                return
            self._step_ms = now_ms
            self._in_step = 0
        self._in_step += 1
        self._frames += 1
        self.ms = max(self.ms, backlog_ms)

    def _end(self) -> None:
        self.is_growing = False
        early_ms = self._frames * FRAME_MS - (self._step_ms + STEP_MS - self._began_ms)
        # Some of what was held back may be lost.
        if self._gap_ms / 2 <= early_ms <= self._gap_ms + STALL_SLACK_MS:
            self.ms = min(self.ms, self._before_ms)
