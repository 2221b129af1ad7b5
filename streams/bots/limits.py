"""What a bot or a recognizer may send: how much at once, and how much that nobody understands."""

import time
from collections.abc import Callable
from typing import Annotated

from base.limit import Limit
from streams.bots.loop_shares import LoopShares

MAX_MESSAGE_BYTES = 1_000_000
MAX_ACTION_BYTES = 65_536
MAX_FRAMES_PER_S = 5_000  # pings, too; a minute of speech in one burst has 3,000
MAX_BYTES = 64_000_000  # of one stream, in ten seconds: ten minutes of speech at 24 kHz have 38 MB
MAX_ACTIONS = 100  # of one stream, a minute
MAX_MARKS = 600  # of one stream, in ten seconds: each is a report to every engine
MAX_PENDING_MARKS = 1_000  # of one stream: a clear reports all of them at once
MAX_UTTERANCES = 50  # of one stream, in ten seconds: the detector of voices hears each again
MAX_INVALID = 20  # of one stream, a minute
MAX_UNSENT_BYTES = 262_144  # 14 s of Twilio's protocol that a bot has not read

# What a stream may send whatever the others of its account do. A voice has 50 frames a second, or
# 100 of 10 ms; of 24 kHz in base64 it has 640 kB in ten seconds; each word may have a mark.
VOICE_FRAMES_PER_S = 200
VOICE_BYTES = 2_000_000  # in ten seconds
VOICE_MARKS = 100  # in ten seconds
VOICE_ACTIONS = 20  # in a minute: each has the caller for some seconds
# What streams send beyond that, all of an account together: four streams at their own limits, ten
# of them for marks.
MAX_SURPLUS_FRAMES_PER_S = 20_000
MAX_SURPLUS_BYTES = 256_000_000  # in ten seconds
MAX_SURPLUS_MARKS = 6_000  # in ten seconds
MAX_SURPLUS_ACTIONS: Annotated[
    int,
    Limit(
        "account",
        "refused",
        "Actions of its bots at one gateway in a minute, beyond 20 of each stream.",
    ),
] = 320


class TooFast(Exception):
    """Far more than a voice has; the text says of what."""


class RateLimit:
    """At most `most` events in each window; times are milliseconds of one clock."""

    count: int  # in this window

    def __init__(self, most: int, window_ms: int) -> None:
        self._most = most
        self._window_ms = window_ms
        self._since_ms = float("-inf")  # so the first event begins a window

    def is_exceeded(self, now_ms: float, count: int = 1) -> bool:
        """Count events; return whether they are too many in this window."""
        if now_ms - self._since_ms >= self._window_ms:
            self._since_ms = now_ms
            self.count = 0
        self.count += count
        return self.count > self._most


class AccountLimits:
    """The counts of all bots of an account: of what each sends beyond the speed of a voice.

    So a flood of some of them ends those, and neither the other streams of the account nor those
    of other accounts notice it.
    """

    def __init__(self) -> None:
        self.streams = 0
        self._frames = RateLimit(MAX_SURPLUS_FRAMES_PER_S, 1_000)
        self._bytes = RateLimit(MAX_SURPLUS_BYTES, 10_000)
        self._marks = RateLimit(MAX_SURPLUS_MARKS, 10_000)
        self._actions = RateLimit(MAX_SURPLUS_ACTIONS, 60_000)

    def check_frame(self, now_ms: float) -> None:
        """Count a frame; raises TooFast."""
        if self._frames.is_exceeded(now_ms):
            raise _too_much(f"{MAX_SURPLUS_FRAMES_PER_S} frames in a second")

    def check_bytes(self, size: int, now_ms: float) -> None:
        """Count the bytes of a frame; raises TooFast."""
        if self._bytes.is_exceeded(now_ms, size):
            raise _too_much(f"{MAX_SURPLUS_BYTES} bytes in ten seconds")

    def check_mark(self, now_ms: float) -> None:
        """Count a mark; raises TooFast."""
        if self._marks.is_exceeded(now_ms):
            raise _too_much(f"{MAX_SURPLUS_MARKS} marks in ten seconds")

    def is_action_refused(self, now_ms: float) -> bool:
        """Count an action; return whether they are too many in this minute."""
        return self._actions.is_exceeded(now_ms)


def _too_much(what: str) -> TooFast:
    return TooFast(f"the account's bots together sent over {what} beyond the speed of voices")


class Accounts:
    """The accounts with streams at this gateway."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self.loop = LoopShares(now_s)
        self._limits: dict[str, AccountLimits] = {}

    def join(self, account: str) -> AccountLimits:
        """Return the counts that a new stream of an account shares with its others."""
        limits = self._limits.setdefault(account, AccountLimits())
        limits.streams += 1
        return limits

    def leave(self, account: str) -> None:
        """Forget a stream; with the last one of its account, the account."""
        limits = self._limits[account]
        limits.streams -= 1
        if not limits.streams:
            del self._limits[account]


class MessageLimits:
    """The counts of one bot; times are milliseconds of one clock."""

    def __init__(self, account: AccountLimits) -> None:
        self._account = account
        self._frames = RateLimit(MAX_FRAMES_PER_S, 1_000)
        self._bytes = RateLimit(MAX_BYTES, 10_000)
        self._marks = RateLimit(MAX_MARKS, 10_000)
        self._actions = RateLimit(MAX_ACTIONS, 60_000)
        self._invalid = RateLimit(MAX_INVALID, 60_000)

    def check_frame(self, size: int, now_ms: float) -> None:
        """Count a frame of so many bytes; raises TooFast."""
        if self._frames.is_exceeded(now_ms):
            raise TooFast(f"more than {MAX_FRAMES_PER_S} frames in a second")
        if self._bytes.is_exceeded(now_ms, size):
            raise TooFast(f"more than {MAX_BYTES} bytes in ten seconds")
        if self._frames.count > VOICE_FRAMES_PER_S:
            self._account.check_frame(now_ms)
        if self._bytes.count > VOICE_BYTES:
            self._account.check_bytes(size, now_ms)

    def is_mark_refused(self, now_ms: float, pending: int) -> bool:
        """Count a mark that follows `pending` ones; return whether they are too many.

        Raises TooFast if those of the account are.
        """
        if self._marks.is_exceeded(now_ms) or pending >= MAX_PENDING_MARKS:
            return True
        if self._marks.count > VOICE_MARKS:
            self._account.check_mark(now_ms)
        return False

    def is_action_refused(self, now_ms: float) -> bool:
        """Count an action; return whether they, or the account's, are too many in this minute."""
        if self._actions.is_exceeded(now_ms):
            return True
        return self._actions.count > VOICE_ACTIONS and self._account.is_action_refused(now_ms)

    def is_invalid_too_often(self, now_ms: float) -> bool:
        """Count a message that is invalid; return whether they are too many in this minute."""
        return self._invalid.is_exceeded(now_ms)
