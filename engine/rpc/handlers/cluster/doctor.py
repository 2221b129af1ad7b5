"""RPC operation that runs the doctor's checks where the engine's settings are."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

import structlog
from aiohttp import web
from msgspec import Struct

from base.tasks import cancel_all
from wire.cluster import DoctorFinding, DoctorReport

log = structlog.get_logger()
MAX_AGE_S = 60.0  # checks connect to every PBX node, and store a file in the archive
WAIT_S = 5.0  # less than the timeout of requests
Checks = Callable[[], Awaitable[Sequence[DoctorFinding]]]


async def no_checks() -> Sequence[DoctorFinding]:
    return ()


class DoctorRuns:
    """Runs the checks one at a time; results are a minute old at most, or being replaced."""

    def __init__(
        self,
        checks: Checks = no_checks,
        monotonic: Callable[[], float] = time.monotonic,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        *,
        wait_s: float = WAIT_S,
    ) -> None:
        self._checks = checks
        self._monotonic = monotonic
        self._now_ms = now_ms
        self._wait_s = wait_s
        self._last = DoctorReport()
        self._due_s = 0.0  # when results are too old
        self._run: asyncio.Task[None] | None = None

    async def report(self) -> DoctorReport:
        """Return the last results; wait a while for newer ones if they are too old."""
        if self._run is None and (not self._last.checked_ms or self._monotonic() >= self._due_s):
            self._run = asyncio.create_task(self._check())
        if self._run is not None:
            await asyncio.wait([self._run], timeout=self._wait_s)
        last = self._last
        return DoctorReport(last.checked_ms, last.duration_ms, self._run is not None, last.findings)

    async def close(self) -> None:
        """Cancel the checks that are in progress."""
        if self._run is not None:
            await cancel_all([self._run])

    async def _check(self) -> None:
        began_s = self._monotonic()
        try:
            findings = tuple(await self._checks())
        except Exception:
            log.exception("checks of the doctor failed")
        else:
            duration_ms = round((self._monotonic() - began_s) * 1000)
            self._last = DoctorReport(self._now_ms(), duration_ms, False, findings)
            self._due_s = self._monotonic() + MAX_AGE_S
        finally:
            self._run = None


class DoctorHandlers(Struct, frozen=True):
    runs: DoctorRuns

    async def report(self, _request: web.Request) -> DoctorReport:
        return await self.runs.report()
