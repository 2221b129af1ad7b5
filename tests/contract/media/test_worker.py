"""The worker process: what happens when it, its job or its engine dies."""

import asyncio
import gc
import os
import re
import signal
import sys
from pathlib import Path

import pytest

from engine.media.clip import MediaError, MediaLimits
from engine.media.worker.process import Worker, WorkerPool
from engine.media.worker.protocol import Transcode
from tests.harness.media.sounds import LIMITS, sound
from tests.harness.until import until


async def test_worker_killed(tmp_path: Path) -> None:
    """A worker killed during a job fails only that job; one killed between jobs fails none."""
    source, target = tmp_path / "a.mp3", tmp_path / "a.wav"
    fifo = tmp_path / "never"
    await asyncio.to_thread(source.write_bytes, sound("mp3"))
    os.mkfifo(fifo)
    worker = Worker(LIMITS, tmp_path)
    good = Transcode(str(source), "mp3", str(target), 20_000)
    try:
        await worker.run(good)
        job = asyncio.create_task(worker.run(Transcode(str(fifo), "mp3", str(target), 20_000)))
        writer = await asyncio.to_thread(os.open, fifo, os.O_WRONLY)  # opens when the worker reads
        assert worker.pid
        os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(MediaError, match="unreadable"):
            await job
        os.close(writer)
        await worker.run(good)
        killed = worker.pid
        os.kill(killed, signal.SIGKILL)
        await until(lambda: ended(killed))
        await worker.run(good)
        assert worker.pid != killed
    finally:
        await worker.close()


@pytest.mark.parametrize("content", [None, b"", b"garbage" * 100, sound("wav")[:44]])
async def test_errors_name_no_files(tmp_path: Path, content: bytes | None) -> None:
    """Customers see the text: it has neither paths of this machine nor names of classes."""
    source, target = tmp_path / "x.src", tmp_path / "a.wav"
    if content is not None:
        source.write_bytes(content)
    worker = Worker(LIMITS, tmp_path)
    try:
        with pytest.raises(MediaError) as failed:
            await worker.run(Transcode(str(source), "mp3", str(target), 20_000))
    finally:
        await worker.close()
    assert failed.value.reason == "unreadable"
    assert not re.search(r"/|Err", failed.value.text)


_ORPHAN = """
import asyncio, sys
from pathlib import Path
from engine.media.clip import MediaLimits
from engine.media.worker.protocol import Transcode
from engine.media.worker.process import WorkerPool
from engine.media.worker.process import Worker

async def main():
    worker = Worker(MediaLimits(), Path(sys.argv[1]).parent)
    job = asyncio.create_task(worker.run(Transcode(sys.argv[1], "mp3", sys.argv[1], 1)))
    while worker.pid is None:
        await asyncio.sleep(0)
    print(worker.pid, flush=True)
    await job

asyncio.run(main())
"""


async def test_worker_dies_with_engine(tmp_path: Path) -> None:
    """When the engine is killed its worker ends too, even in the middle of a job."""
    fifo = tmp_path / "never"
    os.mkfifo(fifo)
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _ORPHAN, str(fifo), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout
    pid = int(await parent.stdout.readline())
    writer = await asyncio.to_thread(os.open, fifo, os.O_WRONLY)  # opens when the worker reads
    parent.kill()
    await parent.communicate()
    await until(lambda: ended(pid))
    os.close(writer)


def ended(pid: int) -> bool:
    """Return whether a process has ended, or is a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


async def test_worker_hangs(tmp_path: Path) -> None:
    """A job that hangs is killed, and the next one runs."""
    source, fifo = tmp_path / "a.wav", tmp_path / "never"
    await asyncio.to_thread(source.write_bytes, sound("wav"))
    os.mkfifo(fifo)
    worker = Worker(MediaLimits(job_s=4), tmp_path)
    try:
        with pytest.raises(MediaError, match="took longer than 4 s"):
            await worker.run(Transcode(str(fifo), "mp3", str(tmp_path / "b"), 20_000))
        assert worker.pid is None
        await worker.run(Transcode(str(source), "wav", str(tmp_path / "b"), 20_000))
    finally:
        await worker.close()


async def test_a_pool_is_closed_while_a_job_runs(tmp_path: Path) -> None:
    """As when the engine stops: the job is cancelled, and its worker ends."""
    fifo = tmp_path / "never"
    os.mkfifo(fifo)
    pool = WorkerPool(LIMITS, tmp_path, finish_jobs=True)
    hanging = Transcode(str(fifo), "mp3", str(tmp_path / "b"), 20_000)
    job = asyncio.create_task(pool.run("acme", hanging))
    writer = await asyncio.to_thread(os.open, fifo, os.O_WRONLY)  # opens when the worker reads
    await pool.close()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert not any(worker.pid for worker in pool.workers)
    os.close(writer)


async def test_a_job_that_nobody_waits_for_may_fail(tmp_path: Path) -> None:
    """It is finished although its caller has gone; its failure is no fault of the event loop's."""
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, fault: faults.append(fault))
    fifo = tmp_path / "late"
    os.mkfifo(fifo)
    pool = WorkerPool(LIMITS, tmp_path, finish_jobs=True)
    transcode = Transcode(str(fifo), "mp3", str(tmp_path / "b"), 20_000)
    job = asyncio.create_task(pool.run("acme", transcode))
    writer = await asyncio.to_thread(os.open, fifo, os.O_WRONLY)  # opens when the worker reads
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    os.close(writer)
    other = Transcode(str(tmp_path / "none"), "mp3", str(tmp_path / "b"), 20_000)
    for _ in pool.workers:  # an idle worker, and then the one of the job
        with pytest.raises(MediaError):
            await pool.run("acme", other)
    await pool.close()
    gc.collect()
    assert faults == []
