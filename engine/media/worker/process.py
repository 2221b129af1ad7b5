"""The engine's side of a worker process: one job at a time, started when needed."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import AsyncExitStack
from pathlib import Path

from base.child_processes import kill
from base.fair_slots import FairSlots
from base.sandbox import ENVIRONMENT
from base.tasks import cancel_all
from engine.media.clip import MediaError, MediaLimits, Reason
from engine.media.worker import protocol


class Worker:
    """One worker process; if a job hangs or kills it, the next job starts a new one.

    A new process runs `first_job` before any other.
    """

    def __init__(
        self, limits: MediaLimits, folder: Path | None = None, first_job: protocol.Job | None = None
    ) -> None:
        self._limits = limits
        self._folder = folder  # of the files of its jobs
        self._first_job = first_job
        self._lock = asyncio.Lock()
        self._process: Process | None = None

    @property
    def pid(self) -> int | None:
        """The process id, if the process runs."""
        return self._process.pid if self._process else None

    async def run(self, job: protocol.Job) -> protocol.JobDone:
        """Run a job; raises MediaError."""
        async with self._lock:
            if self._process is not None and _has_ended(self._process.pid):
                await self.close()
            if self._process is None:
                self._process = await self._start()
                if self._first_job is not None:
                    await self._run(self._process, self._first_job, self._limits.start_s)
            return await self._run(self._process, job, self._limits.job_s)

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        kill(process)
        await process.communicate()

    async def _run(self, process: Process, job: protocol.Job, limit_s: float) -> protocol.JobDone:
        try:
            async with asyncio.timeout(limit_s):
                reply = await _exchange(process, job)
        except TimeoutError:
            await self.close()
            raise _worker_error(job, f"took longer than {limit_s:g} s") from None
        except (OSError, EOFError):
            await self.close()
            raise _worker_error(job, f"ended the worker ({process.returncode})") from None
        except BaseException:
            await self.close()  # else its reply would be read as the next job's
            raise
        if isinstance(reply, protocol.JobFailed):
            raise MediaError(reply.reason, reply.text)
        return reply

    async def _start(self) -> Process:
        limits = self._limits
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "engine.media.worker.main",
            str(limits.worker_memory_bytes),
            str(max(1, round(limits.job_s))),
            str(os.getpid()),
            *([str(self._folder.absolute())] if self._folder else []),
            stdin=PIPE,
            stdout=PIPE,
            env=ENVIRONMENT,
        )


def _has_ended(pid: int) -> bool:
    """Return whether a process has exited, without reaping it; the event loop may not know yet."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


async def _exchange(process: Process, job: protocol.Job) -> protocol.Reply:
    pipe_in, pipe_out = process.stdin, process.stdout
    if pipe_in is None or pipe_out is None:
        raise EOFError
    pipe_in.write(protocol.frame(job))
    await pipe_in.drain()
    length = int.from_bytes(await pipe_out.readexactly(protocol.LENGTH_BYTES), "big")
    return protocol.replies.decode(await pipe_out.readexactly(length))


def _worker_error(job: protocol.Job, what: str) -> MediaError:
    reason: Reason = "unreadable" if isinstance(job, protocol.Transcode) else "speech_failed"
    return MediaError(reason, what)


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
        first_job: protocol.Job | None = None,
        finish_jobs: bool = False,
    ) -> None:
        self._finish_jobs = finish_jobs
        self.workers = tuple(Worker(limits, folder, first_job) for _ in range(limits.workers))
        self._idle = list(reversed(self.workers))  # the last one is next: others start when needed
        self._running: set[asyncio.Task[protocol.JobDone]] = set()
        self._slots = FairSlots(limits.workers, max(1, limits.workers - 1))

    async def run(self, account: str, job: protocol.Job) -> protocol.JobDone:
        """Run an account's job; raises MediaError."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._slots.slot(account))
            running = asyncio.create_task(self._run(job, stack.pop_all()))
            self._running.add(running)
            running.add_done_callback(self._done)
        if self._finish_jobs:
            return await asyncio.shield(running)
        return await running

    async def _run(self, job: protocol.Job, slot: AsyncExitStack) -> protocol.JobDone:
        async with slot:
            worker = self._idle.pop()
            try:
                return await worker.run(job)
            finally:
                self._idle.append(worker)

    def _done(self, running: asyncio.Task[protocol.JobDone]) -> None:
        self._running.discard(running)
        if not running.cancelled():
            running.exception()  # perhaps its caller has left: a job that is finished regardless

    async def close(self) -> None:
        """Cancel the running jobs, and end all workers."""
        await cancel_all(self._running)
        for worker in self.workers:
            await worker.close()
