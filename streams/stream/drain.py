"""Decides which frames of a bot are dropped, so that a delay does not stay for the rest of a call.

A bot that sends in real time never makes up for a stall of its network: what came late delays
everything after it. A backlog counts as such a delay while it never falls below a level although
frames arrive at the speed of a voice. Frames of silence are dropped first, and then every second
one. A bot that sends faster, or with a lead from the beginning of what it says, loses nothing.
"""

from streams.stream.audio import FRAME_MS

IDLE_MS = 400  # without a frame: what follows begins something new, with the lead that it wants
LEAD_MS = 100  # for so long it may build up its lead
WINDOW_MS = 120
_LIVE = range(4, 9)  # frames of a voice in a window; six, if they come evenly


class BacklogDrain:
    """The delay of one bot's audio; all times are milliseconds of one clock."""

    def __init__(self) -> None:
        self._last_ms = float("-inf")
        self._window_ms = 0.0
        self._lead_ms = 0.0
        self._lowest_ms = float("inf")
        self._count = 0
        self._excess = 0
        self._is_lasting = False

    def drops(self, backlog_ms: float, is_silent: bool, now_ms: float) -> bool:
        """Return whether a frame is dropped that arrives while `backlog_ms` are still unheard."""
        if now_ms - self._last_ms > IDLE_MS:
            self._begin(now_ms)
        self._last_ms = now_ms
        if now_ms < self._window_ms:  # the lead
            self._lead_ms = max(self._lead_ms, backlog_ms)
            return False
        if now_ms - self._window_ms >= WINDOW_MS:
            self._close_window(now_ms)
        self._count += 1
        self._lowest_ms = min(self._lowest_ms, backlog_ms)
        if is_silent:
            is_dropped = self._excess > 0
        else:  # one frame of delay is not worth a sound
            is_dropped = self._is_lasting and self._excess > 1 and self._count % 2 == 1
        if not is_dropped:
            return False
        self._excess -= 1
        self._lowest_ms = min(self._lowest_ms, backlog_ms - FRAME_MS)
        return True

    def restart(self) -> None:
        """Forget the past: the audio was cleared."""
        self._last_ms = float("-inf")

    def _begin(self, now_ms: float) -> None:
        self._window_ms = now_ms + LEAD_MS
        self._lead_ms = 0.0
        self._excess = 0
        self._is_lasting = False
        self._reset_window()

    def _close_window(self, now_ms: float) -> None:
        delay_ms = self._lowest_ms - self._lead_ms
        is_delayed = self._count in _LIVE and delay_ms >= FRAME_MS
        self._is_lasting = is_delayed and self._excess > 0
        self._excess = int(delay_ms // FRAME_MS) if is_delayed else 0
        self._window_ms = now_ms
        self._reset_window()

    def _reset_window(self) -> None:
        self._lowest_ms = float("inf")
        self._count = 0
