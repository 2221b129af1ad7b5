"""What a bot hears while an action has its caller elsewhere: silence instead of no audio."""

from streams.stream.audio import FRAME_MS

GAP_MS = 100  # without a frame: the caller's channel is elsewhere, and not merely late


class SilenceClock:
    """Which frames of a caller are missing, once started; times are milliseconds of one clock."""

    _frame_ms: float  # when the last frame came, or was replaced
    _gap_ms: int

    def restart(self, now_ms: float) -> None:
        """Take a frame of the caller's, or the start of an action."""
        self._frame_ms, self._gap_ms = now_ms, GAP_MS

    def due(self, now_ms: float) -> list[float]:
        """Return the times of the frames that silence replaces now."""
        if now_ms - self._frame_ms < self._gap_ms:
            return []
        self._gap_ms = FRAME_MS
        times: list[float] = []
        while now_ms - self._frame_ms >= FRAME_MS:
            self._frame_ms += FRAME_MS
            times.append(self._frame_ms)
        return times
