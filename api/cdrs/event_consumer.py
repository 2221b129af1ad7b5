"""Consumes call events from the engines, and writes call records.

Events are acknowledged after the commit. When a process dies in between, the events are delivered
again, to it or to another process, and are already written.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence

import aiohttp
import msgspec
import structlog
from msgspec import Raw, Struct
from sqlalchemy.exc import SQLAlchemyError

from api.cdrs.event_writer import DecodedEvent, decode_event, write_events
from api.common.errors import ApiError
from api.db.database import Database
from api.engine_client import EngineClient, EngineUnavailable
from api.transcripts.queue import TranscriptQueue
from wire.events.consumer_groups import AcknowledgeEvents, AcknowledgementResult, LostEvents

GROUP = "cdrs"
POLL_TIMEOUT_S = 5
CLAIM_IDLE_S = 10  # unacknowledged events are delivered again after that
BATCH_SIZE = 500
FULL_BATCH = 250  # more events wait already
RETRY_DELAY_S = 1.0
# Between batches that are not full: a read costs an engine and its store as much as many events do.
COLLECT_S = 0.25
WRITE_ERRORS = (
    SQLAlchemyError,
    OverflowError,
)  # the database is available, but cannot store an event
log = structlog.get_logger()


class _Delivered(Struct, frozen=True, rename="camel"):
    """Like `wire.events.consumer_groups.Delivered`, with the event undecoded: it may be newer."""

    id: str
    event: Raw


class _Batch(Struct, frozen=True, rename="camel"):
    events: tuple[_Delivered, ...]
    lost: tuple[LostEvents, ...] = ()


# Returns the country of an account's numbers without a country code.
RegionLookup = Callable[[str], Awaitable[str | None]]


async def no_region(_account: str) -> str | None:
    return None


class Transcription(Struct, frozen=True):
    """Which accounts' recordings are transcribed, and the queue for them."""

    is_wanted: Callable[[str], Awaitable[bool]]
    queue: TranscriptQueue


class EventConsumer(Struct, frozen=True):
    """One consumer per process; all share a consumer group."""

    engine: EngineClient
    database: Database
    name: str
    idle_s: float = CLAIM_IDLE_S
    region_of: RegionLookup = no_region
    transcription: Transcription | None = None

    async def run(self, retry_delay_s: float = RETRY_DELAY_S, collect_s: float = COLLECT_S) -> None:
        """Consume until cancelled; unavailable engines or database are retried."""
        while True:
            try:
                batch = await self._batch(POLL_TIMEOUT_S)
                await self._store(batch)
                if len(batch.events) < FULL_BATCH:
                    await asyncio.sleep(collect_s)
            except ApiError as error:
                log.warning("event consumer failed", reason=error.detail)
                await asyncio.sleep(retry_delay_s)
            except Exception:
                log.exception("event consumer failed")  # the next batch may succeed
                await asyncio.sleep(retry_delay_s)

    async def once(self, wait_s: float = POLL_TIMEOUT_S) -> int:
        """Read, write and acknowledge a batch; return the number of new records."""
        return await self._store(await self._batch(wait_s))

    async def _store(self, batch: _Batch) -> int:
        decoded = _decode(batch.events)
        try:
            new, done = await self._write(list(decoded.values())), list(decoded)
        except WRITE_ERRORS as error:
            log.warning("batch not written, writing events one by one", reason=type(error).__name__)
            new, done = await self._one_by_one(decoded)
        await self._acknowledge(done)
        for gap in batch.lost:
            new += await self.fill(gap)
            await self._acknowledge([gap.id])
        return new

    async def _acknowledge(self, ids: Sequence[str]) -> None:
        if ids:
            request = AcknowledgeEvents(GROUP, tuple(ids))
            await self.engine.request(AcknowledgementResult, "POST", "/events/ack", request)

    async def fill(self, gap: LostEvents) -> int:
        """Write the events of ended calls in a lost range; live calls emit more.

        Returns the number of new records. If it fails, the loss is reported again.
        """
        new, batch = 0, list[bytes]()
        query = {"shard": gap.shard, "first": gap.first, "end": gap.end}
        try:
            async with self.engine.stream("/events/ended", query, {}) as lines:
                async for line in lines:
                    if event := line.strip():
                        batch.append(event)
                    if len(batch) >= BATCH_SIZE:
                        new, batch = new + await self._write_again(batch), []
        except (aiohttp.ClientError, TimeoutError) as error:
            raise EngineUnavailable(f"lost events not read: {type(error).__name__}") from None
        new += await self._write_again(batch)
        log.error("call events lost", shard=gap.shard, first=gap.first, most=gap.most, restored=new)
        return new

    async def _write_again(self, events: Sequence[bytes]) -> int:
        """Write events that may be written already; raises if the database is not available."""
        decoded = _decode([_Delivered(str(n), Raw(event)) for n, event in enumerate(events)])
        try:
            return await self._write(list(decoded.values()))
        except WRITE_ERRORS:
            new, done = await self._one_by_one(decoded)
            if not done:
                raise
            return new

    async def _batch(self, wait_s: float) -> _Batch:
        query = {
            "group": GROUP,
            "consumer": self.name,
            "wait": str(wait_s),
            "limit": str(BATCH_SIZE),
            "idle": str(self.idle_s),
        }
        return await self.engine.request(_Batch, "GET", "/events", query=query)

    async def _write(self, decoded: Sequence[DecodedEvent]) -> int:
        if not decoded:
            return 0
        accounts = {each.account_id for each in decoded if each.record is not None}
        regions = {each: await self.region_of(each) for each in sorted(accounts)}
        transcribed = await self._transcribed(accounts)
        async with self.database.writing() as connection:
            new = await write_events(connection, decoded, regions)
            if self.transcription is not None:
                wanted = [each for each in new if each.account_id in transcribed]
                await self.transcription.queue.add(connection, wanted)
        return len(new)

    async def _transcribed(self, accounts: Iterable[str]) -> set[str]:
        if self.transcription is None:
            return set()
        return {each for each in accounts if await self.transcription.is_wanted(each)}

    async def _one_by_one(self, decoded: dict[str, DecodedEvent]) -> tuple[int, list[str]]:
        """Write what can be written; an event that cannot is logged, and delivered again."""
        new, done = 0, []
        for event_id, event in decoded.items():
            try:
                new += await self._write([event])
                done.append(event_id)
            except WRITE_ERRORS as error:
                log.error(  # noqa: TRY400 - its text and traceback contain customer data
                    "call event not written", entry=event_id, reason=type(error).__name__
                )
        return new, done


def _decode(events: Sequence[_Delivered]) -> dict[str, DecodedEvent]:
    """Decode events; an unknown version stays unacknowledged, for a newer process."""
    found = {}
    for each in events:
        try:
            found[each.id] = decode_event(each.event)
        except msgspec.DecodeError as error:
            log.error(  # noqa: TRY400 - the decoder's message is enough
                "call event not decoded", entry=each.id, error=str(error)
            )
    return found


def consumer_name(port: int) -> str:
    """Return the consumer name of this process, the same after a restart."""
    return re.sub("[^A-Za-z0-9_-]", "-", f"{socket.gethostname()[:48]}-{port}")
