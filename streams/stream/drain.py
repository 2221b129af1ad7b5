"""Decides which frames of a bot are dropped, so that a delay does not stay for the rest of a call.

A bot that sends in real time never makes up for a stall of its network: what came late delays
everything after it. A backlog counts as such a delay while it never falls below a level although
frames arrive at the speed of a voice. Frames of silence are dropped first, and every second one
only while there is little silence. A bot that sends faster, or with a lead from the beginning of
what it says, loses nothing but silence, of a long lead.
"""

from streams.stream.audio import FRAME_MS

WINDOW_MS = 120
MAX_LEAD_MS = 100  # of what comes in real time; a longer one is worth no more
ENOUGH_SILENCE = 2  # frames of it that are dropped in a window: a third of the time
_LIVE = range(4, 9)  # frames of a voice in a window; six, if they come evenly


class BacklogDrain:
    """The delay of one bot's audio; all times are milliseconds of one clock."""

    _window_ms: float
    _lowest_ms: float
    _count: int
    _silent_excess: int  # frames that are to be dropped if they are silent
    _excess: int  # of these, the frames that are a delay
    _silence: int  # frames of it that were dropped in this window
    _is_lasting: bool

    def __init__(self) -> None:
        self._lead = Lead()
        self._last_ms = float("-inf")  # so the first frame begins something new

    def drops(self, backlog_ms: float, is_silent: bool, now_ms: float) -> bool:
        """Return whether a frame is dropped that arrives while `backlog_ms` are still unheard."""
        gap_ms, self._last_ms = now_ms - self._last_ms, now_ms
        if gap_ms > IDLE_MS and backlog_ms < FRAME_MS:
            self._begin(gap_ms, now_ms)
        if self._lead.is_growing:
            self._lead.take(backlog_ms, now_ms)
            self._window_ms = now_ms
            return False
        if now_ms - self._window_ms >= WINDOW_MS:
            self._close_window(now_ms)
        self._count += 1
        self._lowest_ms = min(self._lowest_ms, backlog_ms)
        if is_silent:
            is_dropped = self._silent_excess > 0
        else:  # one frame of delay is not worth a sound
            is_dropped = self._is_lasting and self._excess > 1 and self._count % 2 == 1
        if not is_dropped:
            return False
        self._silent_excess -= 1
        self._excess -= 1
        self._silence += is_silent
        self._lowest_ms = min(self._lowest_ms, backlog_ms - FRAME_MS)
        return True

    def restart(self) -> None:
        """Forget the past: the audio was cleared."""
        self._last_ms = float("-inf")

    def _begin(self, gap_ms: float, now_ms: float) -> None:
        self._lead.begin(gap_ms, now_ms)
        self._silent_excess = self._excess = 0
        self._is_lasting = False
        self._reset_window()

    def _close_window(self, now_ms: float) -> None:
        is_live = self._count in _LIVE and now_ms - self._window_ms < 2 * WINDOW_MS
        has_silence = self._silence >= ENOUGH_SILENCE
        lead_ms, was_delayed = self._lead.ms, self._excess > 0
        self._excess = self._above(lead_ms) if is_live else 0
        self._silent_excess = self._above(min(lead_ms, MAX_LEAD_MS)) if is_live else 0
        self._is_lasting = was_delayed and not has_silence
        self._window_ms = now_ms
        self._reset_window()

    def _above(self, lead_ms: float) -> int:
        return max(0, int((self._lowest_ms - lead_ms) // FRAME_MS))

    def _reset_window(self) -> None:
        self._lowest_ms = float("inf")
        self._count = 0
        self._silence = 0


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
        """Measure it again, after a silence."""
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
