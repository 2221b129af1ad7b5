"""The doctor's checks in an engine: one run at a time, and results that are not too old."""

import asyncio
from collections.abc import Sequence

from engine.rpc.handlers.cluster.doctor import MAX_AGE_S, DoctorRuns
from tests.harness.until import until
from wire.cluster import DoctorFinding

FOUND = DoctorFinding("FAIL", "store", "no store", "start one", "store_down", "https://x")


class Checks:
    """Checks that end when the test lets them, and a clock that the test sets."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.runs = 0
        self.may_end = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self) -> Sequence[DoctorFinding]:
        """Wait, and find a fault."""
        self.runs += 1
        await self.may_end.wait()
        if self.error is not None:
            raise self.error
        return [FOUND]

    def open(self, wait_s: float = 10.0) -> DoctorRuns:
        """Return what runs the checks."""
        return DoctorRuns(self, lambda: self.now_s, lambda: 7_000, wait_s=wait_s)


async def test_requests_share_a_run() -> None:
    """Several requests at once cause one run, and get its results."""
    checks = Checks()
    runs = checks.open()
    asking = [asyncio.create_task(runs.report()) for _ in range(3)]
    await asyncio.sleep(0)
    checks.may_end.set()
    reports = await asyncio.gather(*asking)
    assert checks.runs == 1
    for each in reports:
        assert (each.findings, each.checked_ms, each.is_running) == ((FOUND,), 7_000, False)


async def test_results_are_kept_for_a_minute() -> None:
    """A page that polls does not run the checks each time."""
    checks = Checks()
    checks.may_end.set()
    runs = checks.open()
    await runs.report()
    checks.now_s += MAX_AGE_S - 1
    await runs.report()
    assert checks.runs == 1
    checks.now_s += 1
    await runs.report()
    assert checks.runs == 2


async def test_a_long_run_goes_on() -> None:
    """The request does not wait for it; a later one gets its results."""
    checks = Checks()
    runs = checks.open(wait_s=0.0)
    first = await runs.report()
    assert (first.is_running, first.checked_ms, first.findings) == (True, 0, ())
    checks.may_end.set()

    async def has_ended() -> bool:
        return not (await runs.report()).is_running

    await until(has_ended, what="the end of the run")
    assert ((await runs.report()).findings, checks.runs) == ((FOUND,), 1)


async def test_checks_that_fail_are_repeated() -> None:
    """An error of the checks themselves ends no engine, and is no result."""
    checks = Checks()
    checks.error = ValueError("a fault")
    checks.may_end.set()
    runs = checks.open()
    assert (await runs.report()).checked_ms == 0
    checks.error = None
    assert (await runs.report()).findings == (FOUND,)


async def test_the_end_of_an_engine_ends_the_run() -> None:
    """The checks are cancelled; without a run, nothing happens."""
    checks = Checks()
    runs = checks.open(wait_s=0.0)
    await runs.close()
    await runs.report()
    before = len(asyncio.all_tasks())
    await runs.close()
    assert len(asyncio.all_tasks()) == before - 1
