"""The endpoints to ask about, each a few times in a round.

A phone chooses how often an event names its endpoint, and can forge events that name any other. So
an endpoint that has had its questions waits for the next round, and those that are known to be
there come first: other names are limited.
"""

from collections import Counter, deque
from collections.abc import Callable, Sequence

ROUND_S = 0.25
QUESTIONS = 4  # about an endpoint in a round: the tabs of an agent register at once
BATCH = 32  # endpoints to ask about at once: many phones may register again at once
MAX_UNKNOWN = 1_000  # names in a round, such as that of a trunk which has just been configured

Change = tuple[str, float]  # endpoint, and when an event first named it


class ChangedEndpoints:
    """Collects the names in events; `is_known` says that an endpoint is there."""

    def __init__(self, is_known: Callable[[str], bool], clock: Callable[[], float]) -> None:
        self._is_known = is_known
        self._clock = clock
        self._named: dict[str, float] = {}
        self._queue: deque[Change] = deque()
        self._of_round = Counter[str]()  # questions
        self._unknown = 0  # of them
        self._ends_s = 0.0  # the round

    @property
    def wait_s(self) -> float:
        """Return the time until there is something to ask, which may be infinite."""
        if self._queue or self.is_due:
            return 0.0
        return max(0.0, self._ends_s - self._clock()) if self._named else float("inf")

    @property
    def is_due(self) -> bool:
        """Return whether names wait that may be put into the queue, which is empty."""
        if self._queue:
            return False
        is_over = self._clock() >= self._ends_s
        return bool(self._named) and (is_over or not all(map(self._is_exhausted, self._named)))

    def add(self, endpoint: str) -> None:
        self._named.setdefault(endpoint, self._clock())

    def enqueue(self) -> None:
        """Put names into the queue, all but those that have had their questions."""
        if self._clock() >= self._ends_s:
            self._of_round.clear()
            self._unknown = 0
            self._ends_s = self._clock() + ROUND_S
        new = {name: at for name, at in self._named.items() if not self._is_exhausted(name)}
        self._named = {name: at for name, at in self._named.items() if self._is_exhausted(name)}
        known = [each for each in new.items() if self._is_known(each[0])]
        unknown = [each for each in new.items() if not self._is_known(each[0])]
        unknown = unknown[: MAX_UNKNOWN - self._unknown]
        self._unknown += len(unknown)
        self._queue.extend((*known, *unknown))
        self._of_round.update(name for name, _ in self._queue)

    def take(self) -> Sequence[Change]:
        """Return the next endpoints of the queue."""
        return [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]

    def _is_exhausted(self, name: str) -> bool:
        return self._of_round[name] >= QUESTIONS
