"""The jobs of a worker: accounts take turns by what their jobs cost, not by how many they have."""

import asyncio

from speech.worker.job_queue import JobQueue, WaitingJob
from speech.worker.protocol import FeedAudio
from tests.harness.virtual_time import virtual_time


class Queue(JobQueue):
    """A queue whose jobs are named by account and number."""

    def add(self, account: str, *numbers: int, now_s: float = 0.0) -> None:
        """Put jobs."""
        for number in numbers:
            sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.put(WaitingJob(account, FeedAudio(number, b""), sent), now_s)

    def run(self, **costs_s: float) -> str:
        """Take all jobs, which cost so much, and return their names."""
        names = list[str]()
        while (job := self.take()) is not None:
            names.append(f"{job.account}{job.job.stream}")
            self.charge(job.account, costs_s[job.account])
        return " ".join(names)


@virtual_time
async def test_accounts_take_turns() -> None:
    """However many jobs one has; its own keep their order."""
    queue = Queue()
    queue.add("a", *range(6))
    queue.add("b", 0, 1)
    assert queue.run(a=1.0, b=1.0) == "a0 b0 a1 b1 a2 a3 a4 a5"


@virtual_time
async def test_turns_are_measured_in_time() -> None:
    """A costly job is followed by as much time of another account's."""
    queue = Queue()
    queue.add("a", 0, 1)
    queue.add("b", *range(6))
    assert queue.run(a=1.0, b=0.25) == "a0 b0 b1 b2 b3 a1 b4 b5"


@virtual_time
async def test_nothing_is_saved_up() -> None:
    """An account that had no jobs for long does not have the worker alone then."""
    queue = Queue()
    queue.add("a", *range(50))
    assert len(queue.run(a=1.0).split()) == 50
    queue.add("a", 0, 1, 2)
    queue.add("b", 0, 1, 2)
    assert queue.run(a=1.0, b=1.0) == "b0 a0 b1 a1 b2 a2"


@virtual_time
async def test_a_debt_stays_when_all_streams_have_ended() -> None:
    """Else the next stream of the account would have its turn at once."""
    queue = Queue()
    queue.add("a", 0)
    assert queue.run(a=4.0) == "a0"
    queue.forget_idle()
    queue.add("a", 1)
    queue.add("b", 0, 1, 2, 3)
    assert queue.run(a=4.0, b=1.0) == "b0 b1 b2 b3 a1"
    queue.add("c", 0)
    assert queue.run(c=1.0) == "c0"


@virtual_time
async def test_jobs_of_a_stream_are_dropped() -> None:
    """Others keep their order, and the time since when they have waited."""
    queue = Queue()
    queue.add("a", 1, 2, 1, now_s=5.0)
    queue.add("b", 1, now_s=6.0)
    assert [each.account for each in queue.drop(lambda each: each.job.stream == 1)] == [*"aab"]
    assert (queue.busy_since_s("a"), queue.busy_since_s("b")) == (5.0, None)
    assert queue.run(a=1.0) == "a2"


@virtual_time
async def test_how_long_an_account_has_been_busy() -> None:
    """Since it has had jobs without a break."""
    queue = Queue()
    queue.add("a", 0, now_s=1.0)
    queue.add("a", 1, now_s=2.0)
    queue.take()
    queue.add("a", 2, now_s=3.0)
    queue.take()
    assert queue.busy_since_s("a") == 1.0
    queue.renew("a", 4.0)
    assert queue.busy_since_s("a") == 4.0
    queue.take()
    assert queue.busy_since_s("a") is None
    queue.renew("a", 5.0)
    assert queue.busy_since_s("a") is None
