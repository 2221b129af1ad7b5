"""The server's side of a worker process: many streams at once, each with replies in order."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter, deque
from collections.abc import Callable, Collection, Coroutine, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import structlog
from msgspec import Struct

from base.child_processes import kill
from base.sandbox import ENVIRONMENT
from speech.recognizer import RecognitionFailed
from speech.worker.job_queue import JobQueue, WaitingJob
from speech.worker.protocol import (
    LENGTH_BYTES,
    CloseStream,
    FeedAudio,
    FinishUtterance,
    GrammarVocabulary,
    Job,
    JobDone,
    OpenStream,
    Prompt,
    Reply,
    StreamFailed,
    StreamOpened,
    StreamReply,
    UtteranceDone,
    UtteranceHeard,
    frame,
    replies,
)
from wire.streams.recognizer import RecognizerStart

log = structlog.get_logger()
OnHeard = Callable[[Sequence[str]], None]
_MAX_SENT = 3  # jobs that a worker has at a time: it need not wait for the next one
_REFUSAL_S = 30.0
_RELIEF = 4  # times as long as an account is behind without more streams
_Reply = asyncio.Future[UtteranceDone | StreamOpened]


class WorkerLimits(Struct, frozen=True):
    """How many worker processes of a kind run, and what each may have."""

    processes: int
    streams: int  # of each process
    memory_bytes: int  # of addresses
    niceness: int = 0  # how far the processes stand back behind others
    reply_s: float = 20.0  # longest time of a job; the first one of a process loads a model
    behind_s: float = 5.0  # an account with jobs that wait all this time opens no stream


class WorkerStream:
    """One stream in a worker; its failure is raised by the next method that is called."""

    def __init__(
        self, account: str, number: int, worker: "WorkerProcess", on_heard: OnHeard
    ) -> None:
        self.account = account
        self.number = number  # later ones have larger numbers
        self._worker = worker
        self._on_heard = on_heard
        self._waiting: deque[_Reply] = deque()
        self._failure: RecognitionFailed | None = None

    async def feed(self, audio: bytes) -> None:
        self._check()
        await self._worker.send(self.account, FeedAudio(self.number, audio))

    async def open(self, job: OpenStream) -> None:
        await (await self._request(job))

    async def finish(self) -> Coroutine[Any, Any, UtteranceDone]:
        """End the utterance, and return what waits for its words."""
        return self._words(await self._request(FinishUtterance(self.number)))

    async def _words(self, reply: _Reply) -> UtteranceDone:
        done = await reply
        if not isinstance(done, UtteranceDone):
            raise _failed("an unexpected reply")
        return done

    async def _request(self, job: Job) -> _Reply:
        self._check()
        reply: _Reply = asyncio.get_running_loop().create_future()
        self._waiting.append(reply)
        await self._worker.send(self.account, job)
        return reply

    async def close(self) -> None:
        self._worker.close_stream(self.number)

    def give_way(self) -> None:
        """End, as there are too many streams."""
        failure = _overloaded(
            "too many streams, and this is the newest one of the account with the most"
        )
        self._worker.close_stream(self.number, failure)

    def take(self, reply: StreamReply) -> None:
        """Take a reply of the worker."""
        match reply:
            case UtteranceHeard(words=words):
                self._on_heard(words)
            case StreamFailed(text=text):
                self.fail(_failed(text))
            case StreamOpened() | UtteranceDone():
                if self._waiting and not (waiting := self._waiting.popleft()).done():
                    waiting.set_result(reply)

    def fail(self, failure: RecognitionFailed) -> None:
        self._failure = self._failure or failure
        while self._waiting:
            if not (waiting := self._waiting.popleft()).done():
                waiting.set_exception(failure)
                waiting.exception()  # perhaps its reader has left

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure


class WorkerProcess:
    """One worker process; if it ends, its streams fail, and the next stream starts another.

    It has few jobs at a time, and the others wait here, where accounts take turns. `on_hung` gets
    the account of a job that took too long.
    """

    def __init__(
        self, limits: WorkerLimits, model: Path | None, on_hung: Callable[[str], None]
    ) -> None:
        self._limits = limits
        self._model = model
        self._on_hung = on_hung
        self._streams: dict[int, WorkerStream] = {}
        self._lock = asyncio.Lock()
        self._process: Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._queue = JobQueue()
        self._sent: deque[str] = deque()  # the accounts of the jobs that it has
        self._timer: asyncio.TimerHandle | None = None  # of the first one
        self._hung_account: str | None = None  # whose job is why it is killed

    @property
    def streams(self) -> tuple[WorkerStream, ...]:
        """Its streams, the oldest one first."""
        return tuple(self._streams.values())

    def is_behind(self, account: str) -> bool:
        """Return whether some job of an account has waited at any time lately."""
        return self._busy_s(account) >= self._limits.behind_s

    @property
    def pid(self) -> int | None:
        """The process id, if the process runs."""
        return self._process.pid if self._process else None

    async def open(
        self,
        stream: WorkerStream,
        rate: int,
        vocabulary: GrammarVocabulary | Prompt,
        *,
        interim: bool,
    ) -> None:
        """Begin a stream; raises RecognitionFailed."""
        self._streams[stream.number] = stream
        try:
            await self.start()
            await stream.open(OpenStream(stream.number, rate, vocabulary, interim))
        except BaseException:
            self.close_stream(stream.number)
            raise

    async def start(self) -> None:
        """Start the process, unless it runs."""
        async with self._lock:
            if self._process is not None:
                return
            self._process = await self._spawn()
            self._reader = asyncio.create_task(self._read(self._process))

    async def send(self, account: str, job: Job) -> None:
        """Send a job when it is the account's turn; raises RecognitionFailed."""
        if self._process is None:
            raise _ended()
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put(WaitingJob(account, job, sent), _now_s())
        self._send_next()
        try:
            while not sent.done():
                self._relieve(account)
                await asyncio.wait((sent,), timeout=self._limits.reply_s)
                if not sent.done():
                    give_way(self.streams)
            sent.result()
        finally:
            sent.cancel()

    def kill(self) -> None:
        """End the process at once, with its streams."""
        if self._process is not None:
            kill(self._process)

    def close_stream(self, number: int, failure: RecognitionFailed | None = None) -> None:
        """Forget a stream, here and in the worker; what waits of it fails."""
        stream = self._streams.pop(number, None)
        if stream is None:
            return
        failure = failure or _ended()
        stream.fail(failure)
        for each in self._queue.drop(lambda waiting: waiting.job.stream == number):
            _fail(each, failure)
        if self._process is not None:
            self._write(stream.account, CloseStream(number))
        self._queue.forget_idle()

    def _relieve(self, account: str) -> None:
        """End an account's newest stream if it has had more jobs than time for long."""
        own = [each for each in self.streams if each.account == account]
        if len(own) > 1 and self._busy_s(account) >= _RELIEF * self._limits.behind_s:
            self._queue.renew(account, _now_s())
            give_way(own)

    def _busy_s(self, account: str) -> float:
        since_s = self._queue.busy_since_s(account)
        return 0.0 if since_s is None else _now_s() - since_s

    def _send_next(self) -> None:
        while len(self._sent) < _MAX_SENT and (waiting := self._queue.take()) is not None:
            if not waiting.sent.done():  # else its stream ends
                self._write(waiting.account, waiting.job)
                waiting.sent.set_result(None)

    def _write(self, account: str, job: Job) -> None:
        if self._process is None or self._process.stdin is None:
            return
        self._process.stdin.write(frame(job))  # if it has ended, the reader notices it
        self._sent.append(account)
        if len(self._sent) == 1:
            self._watch()

    def _watch(self) -> None:
        """Limit the time of the oldest job."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._sent:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._limits.reply_s, self._hung)

    def _hung(self) -> None:
        self._hung_account = self._sent[0]
        self._on_hung(self._hung_account)
        self.kill()

    def _take(self, reply: Reply) -> None:
        if not isinstance(reply, JobDone):
            if (stream := self._streams.get(reply.stream)) is not None:
                stream.take(reply)
            return
        self._queue.charge(self._sent.popleft(), reply.cost_s)
        self._watch()
        self._send_next()

    async def close(self) -> None:
        """End the process."""
        self.kill()
        if self._reader is not None:
            await self._reader

    async def _read(self, process: Process) -> None:
        try:
            while process.stdout is not None:
                length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES), "big")
                self._take(replies.decode(await process.stdout.readexactly(length)))
        except (OSError, EOFError):
            pass
        finally:
            self._process = None
            hung, self._hung_account = self._hung_account, None
            failed = self.streams
            self._sent.clear()
            self._watch()
            for waiting in self._queue.drop(lambda _: True):
                _fail(waiting, _ended())
            for stream in failed:
                stream.fail(_failed("no result in time") if stream.account == hung else _ended())
            status = await process.wait()
            log.warning("speech_worker_ended", status=status, streams=len(failed), hung=hung)

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


def _ended() -> RecognitionFailed:
    return _failed("the recognizer ended")


def _overloaded(text: str) -> RecognitionFailed:
    return RecognitionFailed("overloaded", text)


def _fail(waiting: WaitingJob, failure: RecognitionFailed) -> None:
    if not waiting.sent.done():
        waiting.sent.set_exception(failure)
        waiting.sent.exception()  # perhaps its reader has left


def _now_s() -> float:
    return asyncio.get_running_loop().time()


def give_way(streams: Collection[WorkerStream]) -> None:
    """End the newest stream of the account with the most of these streams."""
    counts = Counter(each.account for each in streams)
    most = max(counts, key=counts.__getitem__)
    newest = max((each for each in streams if each.account == most), key=lambda each: each.number)
    newest.give_way()


class WorkerPool:
    """A fixed number of workers, which accounts share; an account alone may have them all.

    If there is no room, the newest stream of the account with the most gives way to one of an
    account with fewer; otherwise the next one is rejected at once.
    """

    def __init__(self, limits: WorkerLimits, model: Path | None = None) -> None:
        self._limits = limits
        self._numbers = count()
        self._refused_until_s: dict[str, float] = {}
        self.workers = tuple(
            WorkerProcess(limits, model, self._refuse) for _ in range(limits.processes)
        )

    async def open(
        self,
        account: str,
        rate: int,
        vocabulary: GrammarVocabulary | Prompt,
        on_heard: OnHeard | None,
    ) -> WorkerStream:
        """Begin a stream; raises RecognitionFailed (overloaded, failed)."""
        if _now_s() < self._refused_until_s.get(account, 0.0):
            raise _overloaded("one of the account's utterances has stopped a recognizer")
        self._make_room(account)
        worker = min(self.workers, key=lambda each: self._load(each, account))
        if worker.is_behind(account):
            raise _overloaded("the recognizer is behind with other streams of the account")
        stream = WorkerStream(account, next(self._numbers), worker, on_heard or (lambda _: None))
        await worker.open(stream, rate, vocabulary, interim=on_heard is not None)
        return stream

    def _load(self, worker: WorkerProcess, account: str) -> tuple[bool, int, int]:
        """Return what makes a worker a worse choice: other accounts are kept apart if possible."""
        streams = worker.streams
        others = sum(each.account != account for each in streams)
        return len(streams) >= self._limits.streams, others, len(streams)

    def _make_room(self, account: str) -> None:
        streams = [each for worker in self.workers for each in worker.streams]
        most = self._limits.streams * self._limits.processes
        if len(streams) < most:
            return
        counts = Counter(each.account for each in streams)
        if counts[account] + 1 >= max(counts.values()):
            raise _overloaded(f"{most} streams are recognized already")
        give_way(streams)

    def _refuse(self, account: str) -> None:
        """Give an account that has stopped a worker no other one for a while, if others are there.

        Their streams have ended, too.
        """
        accounts = {each.account for worker in self.workers for each in worker.streams}
        if accounts != {account}:
            self._refused_until_s[account] = _now_s() + _REFUSAL_S

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
