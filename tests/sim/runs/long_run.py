"""A long run: thousands of worlds on several processes, within a time limit."""

import gc
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import count
from multiprocessing import get_context

from tests.sim.runs.tally import Tally

SEEDS_PER_JOB = 10  # worlds of one job
REPORT_INTERVAL_S = 5.0


class LongRun:
    """Runs a number of calls, or as many as the time allows.

    A worker process imports `run_worlds`, which runs a range of seeds.
    """

    def __init__(
        self, run_worlds: Callable[[range], Tally], calls: int, within_s: float, workers: int
    ) -> None:
        self.tally = Tally()
        self._run_worlds = run_worlds
        self._calls = calls
        self._workers = workers
        self._begin_s = time.monotonic()
        self._until_s = self._begin_s + within_s
        self._said_s = self._begin_s

    def run(self, first: int) -> Tally:
        """Run consecutive seeds; when interrupted, return the finished ones."""
        parts = (range(begin, begin + SEEDS_PER_JOB) for begin in count(first, SEEDS_PER_JOB))
        spawning = get_context("spawn")
        with ProcessPoolExecutor(self._workers, spawning, initializer=settle) as pool:
            try:
                self._keep_busy(pool, parts)
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)
        return self.tally

    def _keep_busy(self, pool: ProcessPoolExecutor, parts: Iterator[range]) -> None:
        running: set[Future[Tally]] = set()
        while self._is_short or running:
            while self._is_short and len(running) < 2 * self._workers:
                running.add(pool.submit(self._run_worlds, next(parts)))
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for each in finished:
                self._note(each.result())
            self._say()

    def _note(self, part: Tally) -> None:
        """Add a part, and print its failed seeds at once."""
        self.tally.add(part)
        sys.stderr.writelines(f"seed {seed} failed\n" for seed in sorted(part.failed))

    @property
    def _is_short(self) -> bool:
        return self.tally.calls < self._calls and time.monotonic() < self._until_s

    def _say(self) -> None:
        now_s = time.monotonic()
        if now_s - self._said_s >= REPORT_INTERVAL_S:
            self._said_s = now_s
            tally = self.tally
            pace = tally.calls / (now_s - self._begin_s)
            failed = f"{len(tally.failed)} of {tally.worlds} seeds failed"
            sys.stderr.write(f"{tally.calls:,} of {self._calls:,} calls, {pace:.0f}/s, {failed}\n")


def settle() -> None:
    """Collect garbage rarely: a world is discarded as a whole."""
    gc.freeze()
    gc.set_threshold(100_000, 5, 5)
