"""The endpoints to ask about, in rounds.

A phone chooses how often an event names its endpoint, and can forge events that name any other. So
each endpoint has one question in a round, however many events name it, and those that are known to
be there come first: names that are not are limited.
"""

from collections import deque
from collections.abc import Callable, Sequence

ROUND_S = 0.25  # at least: a phone that has just registered is called that much later
BATCH = 32  # endpoints to ask about at once: many phones may register again at once
MAX_UNKNOWN = 1_000  # names in a round, such as that of a trunk which has just been configured

Change = tuple[str, float]  # endpoint, and when an event first named it


class ChangedEndpoints:
    """Collects names while a round lasts; `is_known` says that an endpoint is there."""

    def __init__(self, is_known: Callable[[str], bool], clock: Callable[[], float]) -> None:
        self._is_known = is_known
        self._clock = clock
        self._next: dict[str, float] = {}
        self._round: deque[Change] = deque()
        self._begins_s = 0.0  # when the next round may begin

    @property
    def wait_s(self) -> float:
        """Return the time until there is something to ask, which may be infinite."""
        if self._round:
            return 0.0
        return max(0.0, self._begins_s - self._clock()) if self._next else float("inf")

    @property
    def is_round_due(self) -> bool:
        return not self._round and self.wait_s == 0

    def add(self, endpoint: str) -> None:
        self._next.setdefault(endpoint, self._clock())

    def begin_round(self) -> None:
        """Begin a round with what has been collected."""
        changes, self._next = self._next.items(), {}
        unknown = [each for each in changes if not self._is_known(each[0])]
        self._round.extend(each for each in changes if self._is_known(each[0]))
        self._round.extend(unknown[:MAX_UNKNOWN])
        self._begins_s = self._clock() + ROUND_S

    def take(self) -> Sequence[Change]:
        """Return the next endpoints of the round."""
        return [self._round.popleft() for _ in range(min(BATCH, len(self._round)))]
