"""After a flush, keeps the rest of what a bot was saying from being heard.

A bot that sends in real time needs a moment until it notices that it was interrupted. What it sends
until then belongs to what was dropped: up to its own `clear`, a pause, or a limit.
"""

GAP_MS = 150
MAX_MS = 1_500


class Muffle:
    """Whether a bot's audio is dropped; times are milliseconds of one clock."""

    _last_ms: float

    def __init__(self) -> None:
        self._since_ms: float | None = None

    @property
    def is_active(self) -> bool:
        """Whether what comes may be dropped."""
        return self._since_ms is not None

    def begin(self, now_ms: float) -> None:
        """Drop what follows: the audio was flushed in the middle of what the bot said."""
        self._since_ms = self._last_ms = now_ms

    def end(self) -> None:
        """Let everything pass: the bot has noticed it."""
        self._since_ms = None

    def drops(self, is_silent: bool, now_ms: float) -> bool:
        """Return whether a message with audio is dropped."""
        since_ms = self._since_ms
        if since_ms is None:
            return False
        if now_ms - self._last_ms >= GAP_MS or now_ms - since_ms >= MAX_MS:
            self._since_ms = None
            return False
        if not is_silent:
            self._last_ms = now_ms
        return True
