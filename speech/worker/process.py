"""The server's side of a worker process: many streams at once, each with replies in order."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import structlog
from msgspec import Struct

from base.child_processes import kill
from base.sandbox import ENVIRONMENT
from speech.recognizer import RecognitionFailed
from speech.worker import protocol
from wire.streams.recognizer import RecognizerStart

log = structlog.get_logger()
OnHeard = Callable[[Sequence[str]], None]
_Reply = asyncio.Future[protocol.UtteranceDone | protocol.StreamOpened]


class WorkerLimits(Struct, frozen=True):
    """How many worker processes of a kind run, and what each may have."""

    processes: int
    streams: int  # of each process
    memory_bytes: int  # of addresses
    niceness: int = 0  # how far the processes stand back behind others
    reply_s: float = 20.0  # longest time until a reply; the first one of a process loads a model


class WorkerStream:
    """One stream in a worker; its failure is raised by the next method that is called."""

    def __init__(self, number: int, worker: "WorkerProcess", on_heard: OnHeard) -> None:
        self._number = number
        self._worker = worker
        self._on_heard = on_heard
        self._waiting: deque[_Reply] = deque()
        self._failure: RecognitionFailed | None = None

    async def feed(self, audio: bytes) -> None:
        self._check()
        await self._worker.send(protocol.FeedAudio(self._number, audio))

    async def open(self, job: protocol.OpenStream) -> None:
        await self._result(await self._request(job))

    async def finish(self) -> Coroutine[Any, Any, protocol.UtteranceDone]:
        """End the utterance, and return what waits for its words."""
        return self._words(await self._request(protocol.FinishUtterance(self._number)))

    async def _words(self, reply: _Reply) -> protocol.UtteranceDone:
        done = await self._result(reply)
        if not isinstance(done, protocol.UtteranceDone):
            raise _failed("an unexpected reply")
        return done

    async def _request(self, job: protocol.Job) -> _Reply:
        self._check()
        reply: _Reply = asyncio.get_running_loop().create_future()
        self._waiting.append(reply)
        await self._worker.send(job)
        return reply

    async def _result(self, reply: _Reply) -> protocol.UtteranceDone | protocol.StreamOpened:
        try:
            async with asyncio.timeout(self._worker.reply_s):
                return await reply
        except TimeoutError:
            self._worker.kill()
            raise _failed("no result in time") from None

    async def close(self) -> None:
        await self._worker.close_stream(self._number)

    def take(self, reply: protocol.Reply) -> None:
        """Take a reply of the worker."""
        match reply:
            case protocol.UtteranceHeard(words=words):
                self._on_heard(words)
            case protocol.StreamFailed(text=text):
                self.fail(_failed(text))
            case protocol.StreamOpened() | protocol.UtteranceDone():
                if self._waiting and not (waiting := self._waiting.popleft()).done():
                    waiting.set_result(reply)

    def fail(self, failure: RecognitionFailed) -> None:
        self._failure = failure
        while self._waiting:
            if not (waiting := self._waiting.popleft()).done():
                waiting.set_exception(failure)

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure


class WorkerProcess:
    """One worker process; if it ends, its streams fail, and the next stream starts another."""

    def __init__(self, limits: WorkerLimits, model: Path | None) -> None:
        self._limits = limits
        self._model = model
        self._streams: dict[int, WorkerStream] = {}
        self._numbers = count()
        self._lock = asyncio.Lock()
        self._process: Process | None = None
        self._reader: asyncio.Task[None] | None = None

    @property
    def reply_s(self) -> float:
        """How long a stream waits for a reply before the process is ended."""
        return self._limits.reply_s

    @property
    def streams(self) -> int:
        """How many streams it has."""
        return len(self._streams)

    @property
    def is_behind(self) -> bool:
        """Whether jobs wait because the pipe to it is full."""
        pipe = self._process.stdin if self._process else None
        return pipe is not None and pipe.transport.get_write_buffer_size() > 0

    @property
    def pid(self) -> int | None:
        """The process id, if the process runs."""
        return self._process.pid if self._process else None

    async def open(
        self,
        rate: int,
        vocabulary: protocol.GrammarVocabulary | protocol.Prompt,
        on_heard: OnHeard | None,
    ) -> WorkerStream:
        """Begin a stream; raises RecognitionFailed."""
        number = next(self._numbers)
        stream = WorkerStream(number, self, on_heard or (lambda _: None))
        self._streams[number] = stream
        try:
            await self.start()
            await stream.open(protocol.OpenStream(number, rate, vocabulary, on_heard is not None))
        except BaseException:
            await self.close_stream(number)
            raise
        return stream

    async def start(self) -> None:
        """Start the process, unless it runs."""
        async with self._lock:
            if self._process is not None:
                return
            self._process = await self._spawn()
            self._reader = asyncio.create_task(self._read(self._process))

    async def send(self, job: protocol.Job) -> None:
        """Write a job; waits while the worker is behind."""
        process = self._process
        if process is None or process.stdin is None:
            raise _failed("the recognizer ended")
        try:
            process.stdin.write(protocol.frame(job))
            if self.is_behind:
                async with asyncio.timeout(self.reply_s):
                    await process.stdin.drain()
        except TimeoutError:
            self.kill()
            raise _failed("no result in time") from None
        except OSError:
            raise _failed("the recognizer ended") from None

    def kill(self) -> None:
        """End the process at once, with its streams."""
        if self._process is not None:
            kill(self._process)

    async def close_stream(self, number: int) -> None:
        """Forget a stream, here and in the worker."""
        if self._streams.pop(number, None) is not None:
            with suppress(RecognitionFailed):
                await self.send(protocol.CloseStream(number))

    async def close(self) -> None:
        """End the process."""
        self.kill()
        if self._reader is not None:
            await self._reader

    async def _read(self, process: Process) -> None:
        try:
            while process.stdout is not None:
                length = int.from_bytes(
                    await process.stdout.readexactly(protocol.LENGTH_BYTES), "big"
                )
                reply = protocol.replies.decode(await process.stdout.readexactly(length))
                if (stream := self._streams.get(reply.stream)) is not None:
                    stream.take(reply)
        except (OSError, EOFError):
            pass
        finally:
            self._process = None
            status = await process.wait()
            log.warning("speech_worker_ended", status=status, streams=len(self._streams))
            for stream in self._streams.values():
                stream.fail(_failed("the recognizer ended"))

    async def _spawn(self) -> Process:
        try:
            return await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "speech.worker.main",
                str(self._limits.memory_bytes),
                str(os.getpid()),
                str(self._limits.niceness),
                *([str(self._model.absolute())] if self._model else []),
                stdin=PIPE,
                stdout=PIPE,
                env=ENVIRONMENT,
            )
        except OSError as error:
            raise _failed("the recognizer cannot be started") from error


def _failed(text: str) -> RecognitionFailed:
    return RecognitionFailed("failed", text)


class WorkerPool:
    """A fixed number of workers, with a limit of streams: the next one is rejected at once."""

    def __init__(self, limits: WorkerLimits, model: Path | None = None) -> None:
        self._limits = limits
        self.workers = tuple(WorkerProcess(limits, model) for _ in range(limits.processes))

    async def open(
        self,
        rate: int,
        vocabulary: protocol.GrammarVocabulary | protocol.Prompt,
        on_heard: OnHeard | None,
    ) -> WorkerStream:
        """Begin a stream; raises RecognitionFailed (overloaded, failed)."""
        worker = min(self.workers, key=lambda each: each.streams)
        if worker.streams >= self._limits.streams:
            most = self._limits.streams * self._limits.processes
            raise RecognitionFailed("overloaded", f"{most} streams are recognized already")
        if worker.is_behind:
            raise RecognitionFailed("overloaded", "the recognizer is behind with other streams")
        return await worker.open(rate, vocabulary, on_heard)

    async def start(self) -> None:
        """Start all workers, so that the first stream need not wait."""
        await asyncio.gather(*(each.start() for each in self.workers))

    async def close(self) -> None:
        await asyncio.gather(*(each.close() for each in self.workers))


class WorkerPools(Struct, frozen=True):
    """The workers of a recognizer: of live streams, and of recordings, which start when needed."""

    live: WorkerPool
    recordings: WorkerPool

    def of(self, start: RecognizerStart) -> WorkerPool:
        return self.live if start.live else self.recordings

    async def start(self) -> None:
        await self.live.start()

    async def close(self) -> None:
        await asyncio.gather(self.live.close(), self.recordings.close())
