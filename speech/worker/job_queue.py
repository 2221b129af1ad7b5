"""The jobs that wait for a worker process: accounts share its time, whatever each job costs."""

from asyncio import Future
from collections import deque
from collections.abc import Callable

from msgspec import Struct

from speech.worker.protocol import Job


class WaitingJob(Struct, frozen=True, eq=False):
    """A job of an account's stream; `sent` has a result when the worker gets it."""

    account: str
    job: Job
    sent: Future[None]


class JobQueue:
    """The next job is one of the account whose jobs have cost least since it was idle.

    So an account whose jobs take all the time waits for its own ones, and a job of another account
    for the one that runs (start-time fair queuing).
    """

    def __init__(self) -> None:
        self._waiting: dict[str, deque[WaitingJob]] = {}
        self._busy_since_s: dict[str, float] = {}
        self._spent_s: dict[str, float] = {}
        self._latest_s = 0.0  # what the account had spent whose job was taken last

    def put(self, waiting: WaitingJob, now_s: float) -> None:
        """Take a job; those of an account keep their order."""
        account = waiting.account
        if account not in self._waiting:  # it saves up nothing while it has no jobs
            self._waiting[account] = deque()
            self._busy_since_s[account] = now_s
            self._spent_s[account] = max(self._spent_s.get(account, 0.0), self._latest_s)
        self._waiting[account].append(waiting)

    def take(self) -> WaitingJob | None:
        """Return the next job; None: there is none."""
        if not self._waiting:
            return None
        account = min(self._waiting, key=self._spent_s.__getitem__)
        self._latest_s = self._spent_s[account]
        jobs = self._waiting[account]
        found = jobs.popleft()
        if not jobs:
            del self._waiting[account], self._busy_since_s[account]
        return found

    def charge(self, account: str, seconds: float) -> None:
        """Add what a job of an account has cost."""
        self._spent_s[account] = self._spent_s.get(account, self._latest_s) + seconds

    def drop(self, is_dropped: Callable[[WaitingJob], bool]) -> list[WaitingJob]:
        """Remove jobs, and return them."""
        jobs = [each for waiting in self._waiting.values() for each in waiting]
        dropped = [each for each in jobs if is_dropped(each)]
        for each in dropped:
            waiting = self._waiting[each.account]
            waiting.remove(each)
            if not waiting:
                del self._waiting[each.account], self._busy_since_s[each.account]
        return dropped

    def forget_idle(self) -> None:
        """Forget accounts that have spent no more than those with jobs."""
        for account, spent_s in tuple(self._spent_s.items()):
            if account not in self._waiting and spent_s <= self._latest_s:
                del self._spent_s[account]

    def busy_since_s(self, account: str) -> float | None:
        """Return since when an account has had jobs without a break; None: it has none."""
        return self._busy_since_s.get(account)

    def renew(self, account: str, now_s: float) -> None:
        """Take the account for one that has had no jobs before."""
        if account in self._waiting:
            self._busy_since_s[account] = now_s
