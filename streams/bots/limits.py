"""What a bot or a recognizer may send: how much at once, and how much that nobody understands."""

MAX_MESSAGE_BYTES = 1_000_000
MAX_ACTION_BYTES = 65_536
MAX_MESSAGES_PER_S = 5_000  # a minute of speech in one burst has 3,000
MAX_BYTES = 64_000_000  # of one stream, in ten seconds: ten minutes of speech at 24 kHz have 38 MB
MAX_ACTIONS = 100  # of one stream, a minute
MAX_MARKS = 600  # of one stream, in ten seconds: each is a report to every engine
MAX_PENDING_MARKS = 1_000  # of one stream: a clear reports all of them at once
MAX_UTTERANCES = 50  # of one stream, in ten seconds: the detector of voices hears each again
MAX_INVALID = 20  # of one stream
MAX_UNSENT_BYTES = 262_144  # 14 s of Twilio's protocol that a bot has not read


class TooFast(Exception):
    """Far more than a voice has; the text says of what."""


class RateLimit:
    """At most `most` events in each window; times are milliseconds of one clock."""

    def __init__(self, most: int, window_ms: int) -> None:
        self._most = most
        self._window_ms = window_ms
        self._since_ms = float("-inf")
        self._count = 0

    def is_exceeded(self, now_ms: float, count: int = 1) -> bool:
        """Count events; return whether they are too many in this window."""
        if now_ms - self._since_ms >= self._window_ms:
            self._since_ms = now_ms
            self._count = 0
        self._count += count
        return self._count > self._most


class MessageLimits:
    """The counts of one bot; times are milliseconds of one clock."""

    def __init__(self) -> None:
        self._messages = RateLimit(MAX_MESSAGES_PER_S, 1_000)
        self._bytes = RateLimit(MAX_BYTES, 10_000)
        self._marks = RateLimit(MAX_MARKS, 10_000)
        self._actions = RateLimit(MAX_ACTIONS, 60_000)
        self._invalid = 0

    def check_message(self, size: int, now_ms: float) -> None:
        """Count a message of so many bytes; raises TooFast."""
        if self._messages.is_exceeded(now_ms):
            raise TooFast(f"more than {MAX_MESSAGES_PER_S} messages in a second")
        if self._bytes.is_exceeded(now_ms, size):
            raise TooFast(f"more than {MAX_BYTES} bytes in ten seconds")

    def is_mark_refused(self, now_ms: float, pending: int) -> bool:
        """Count a mark that follows `pending` ones; return whether they are too many."""
        return self._marks.is_exceeded(now_ms) or pending >= MAX_PENDING_MARKS

    def is_action_refused(self, now_ms: float) -> bool:
        """Count an action; return whether they are too many in this minute."""
        return self._actions.is_exceeded(now_ms)

    def is_invalid_too_often(self) -> bool:
        """Count a message that is invalid."""
        self._invalid += 1
        return self._invalid > MAX_INVALID
