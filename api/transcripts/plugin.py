"""Builds the transcripts: their queue, their rows, and who transcribes."""

from msgspec import Struct

from api.accounts.store import AccountStore
from api.common.clock import Clock
from api.config import Settings
from api.db.database import Database
from api.engine_client import EngineClient
from api.metrics import Metrics
from api.transcripts.queue import TranscriptQueue
from api.transcripts.recognizers import Recognizers
from api.transcripts.store import TranscriptStore
from api.transcripts.worker import Transcriber, TranscriptWorker


class TranscriptSlice(Struct, frozen=True):
    """The transcripts of all accounts; without recognizers there are no workers."""

    store: TranscriptStore
    queue: TranscriptQueue
    transcriber: Transcriber
    workers: tuple[TranscriptWorker, ...]
    metrics: Metrics
    now_ms: Clock

    async def measure(self) -> None:
        """Measure how long the oldest recording has waited."""
        oldest_ms = await self.queue.oldest_ms()
        age_ms = 0 if oldest_ms is None else self.now_ms() - oldest_ms
        self.metrics.transcript_age.set(max(0, age_ms) / 1_000)


def build(  # noqa: PLR0913, PLR0917 - what the slice needs
    settings: Settings,
    database: Database,
    engine: EngineClient,
    accounts: AccountStore,
    recognizers: Recognizers,
    metrics: Metrics,
    now_ms: Clock,
) -> TranscriptSlice:
    queue = TranscriptQueue(database, now_ms)
    max_ms = settings.transcript_max_minutes * 60_000
    transcriber = Transcriber(engine, recognizers, queue, max_ms)
    count = settings.transcript_workers if settings.transcript_recognizers else 0
    workers = tuple(TranscriptWorker(queue, accounts, transcriber, metrics) for _ in range(count))
    return TranscriptSlice(TranscriptStore(database), queue, transcriber, workers, metrics, now_ms)
