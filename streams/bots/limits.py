"""What a bot may send: messages a second, and how many that nobody understands."""

MAX_MESSAGE_BYTES = 1_000_000
MAX_ACTION_BYTES = 65_536
MAX_MESSAGES_PER_S = 5_000  # a minute of speech in one burst has 3,000
MAX_ACTIONS = 100  # of one stream, a minute
MAX_MARKS = 600  # of one stream, in ten seconds: each is a report to every engine
MAX_PENDING_MARKS = 1_000  # of one stream: a clear reports all of them at once
MAX_INVALID = 20  # of one stream
MAX_UNSENT_BYTES = 262_144  # 14 s of Twilio's protocol that a bot has not read
_ACTIONS_MS = 60_000
_MARKS_MS = 10_000


class MessageLimits:
    """The counts of one bot; times are milliseconds of one clock."""

    def __init__(self) -> None:
        self._second_ms = 0.0
        self._count = 0
        self._invalid = 0
        self._marks_ms = 0.0
        self._marks = 0
        self._minute_ms = 0.0
        self._actions = 0

    def is_too_fast(self, now_ms: float) -> bool:
        """Count a message; return whether they are too many in this second."""
        if now_ms - self._second_ms >= 1000:  # noqa: PLR2004 - a second
            self._second_ms = now_ms
            self._count = 0
        self._count += 1
        return self._count > MAX_MESSAGES_PER_S

    def is_mark_refused(self, now_ms: float, pending: int) -> bool:
        """Count a mark that follows `pending` ones; return whether they are too many."""
        if now_ms - self._marks_ms >= _MARKS_MS:
            self._marks_ms = now_ms
            self._marks = 0
        self._marks += 1
        return self._marks > MAX_MARKS or pending >= MAX_PENDING_MARKS

    def is_action_refused(self, now_ms: float) -> bool:
        """Count an action; return whether they are too many in this minute."""
        if now_ms - self._minute_ms >= _ACTIONS_MS:
            self._minute_ms = now_ms
            self._actions = 0
        self._actions += 1
        return self._actions > MAX_ACTIONS

    def is_invalid_too_often(self) -> bool:
        """Count a message that is invalid."""
        self._invalid += 1
        return self._invalid > MAX_INVALID
