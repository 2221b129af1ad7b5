"""Worker processes of a kind: each stream is in the one with the fewest streams.

Recordings have processes of their own, with a lower priority: whoever talks to a recognizer never
waits behind minutes of audio.
"""

import asyncio
from pathlib import Path

from msgspec import Struct

from speech.recognizer import RecognitionFailed
from speech.worker.process import OnHeard, WorkerLimits, WorkerProcess, WorkerStream
from speech.worker.protocol import GrammarVocabulary, Prompt
from wire.streams.recognizer import RecognizerStart


class WorkerPool:
    """A fixed number of workers, with a limit of streams: the next one is rejected at once."""

    def __init__(self, limits: WorkerLimits, model: Path | None = None) -> None:
        self._limits = limits
        self.workers = tuple(WorkerProcess(limits, model) for _ in range(limits.processes))

    async def open(
        self, rate: int, vocabulary: GrammarVocabulary | Prompt, on_heard: OnHeard | None
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
