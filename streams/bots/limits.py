"""What a bot may send: messages a second, and how many that nobody understands."""

MAX_MESSAGE_BYTES = 1_000_000
MAX_ACTION_BYTES = 65_536
MAX_MESSAGES_PER_S = 5_000  # a minute of speech in one burst has 3,000
MAX_ACTIONS = 100  # of one stream, a minute
MAX_MARKS = 600  # of one stream, in ten seconds: each is a report to every engine
MAX_PENDING_MARKS = 1_000  # of one stream: a clear reports all of them at once
MAX_UTTERANCES = (
    50  # of one stream, in ten seconds: the detector of voices hears half a second of each
)
MAX_INVALID = 20  # of one stream
MAX_UNSENT_BYTES = 262_144  # 14 s of Twilio's protocol that a bot has not read


class RateLimit:
    """At most `most` events in each window; times are milliseconds of one clock."""

    def __init__(self, most: int, window_ms: int) -> None:
        self._most = most
        self._window_ms = window_ms
        self._since_ms = float("-inf")
        self._count = 0

    def is_exceeded(self, now_ms: float) -> bool:
        """Count an event; return whether they are too many in this window."""
        if now_ms - self._since_ms >= self._window_ms:
            self._since_ms = now_ms
            self._count = 0
        self._count += 1
        return self._count > self._most


class MessageLimits:
    """The counts of one bot; times are milliseconds of one clock."""

    def __init__(self) -> None:
        self._messages = RateLimit(MAX_MESSAGES_PER_S, 1_000)
        self._marks = RateLimit(MAX_MARKS, 10_000)
        self._actions = RateLimit(MAX_ACTIONS, 60_000)
        self._invalid = 0

    def is_too_fast(self, now_ms: float) -> bool:
        """Count a message; return whether they are too many in this second."""
        return self._messages.is_exceeded(now_ms)

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
