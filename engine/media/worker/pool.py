"""Worker processes that accounts share fairly."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from base.fair_slots import FairSlots
from base.tasks import cancel_all
from engine.media.clip import MediaLimits
from engine.media.worker.process import Worker
from engine.media.worker.protocol import Job, JobDone


class WorkerPool:
    """Runs jobs in a few workers; one account uses all but one of them at most.

    So another account's job waits for none of its jobs, however long those take. A job that is
    cancelled ends its worker, unless `finish_jobs`: for workers that start slowly.
    """

    def __init__(
        self,
        limits: MediaLimits,
        folder: Path | None = None,
        *,
        first_job: Job | None = None,
        finish_jobs: bool = False,
    ) -> None:
        self._finish_jobs = finish_jobs
        self.workers = tuple(Worker(limits, folder, first_job) for _ in range(limits.workers))
        self._idle = list(reversed(self.workers))  # the last one is next: others start when needed
        self._running: set[asyncio.Task[JobDone]] = set()
        self._slots = FairSlots(limits.workers, max(1, limits.workers - 1))

    async def run(self, account: str, job: Job) -> JobDone:
        """Run an account's job; raises MediaError."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._slots.slot(account))
            running = asyncio.create_task(self._run(job, stack.pop_all()))
            self._running.add(running)
            running.add_done_callback(self._running.discard)
        if self._finish_jobs:
            return await asyncio.shield(running)
        return await running

    async def _run(self, job: Job, slot: AsyncExitStack) -> JobDone:
        async with slot:
            worker = self._idle.pop()
            try:
                return await worker.run(job)
            finally:
                self._idle.append(worker)

    async def close(self) -> None:
        """Cancel the running jobs, and end all workers."""
        await cancel_all(self._running)
        for worker in self.workers:
            await worker.close()
