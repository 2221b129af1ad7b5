"""Reads call events from the engines, and writes call records.

Events are acknowledged when what they say is committed. A process that dies in between is told them
again, by this name or another, and finds them written.
"""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec
import structlog
from msgspec import Raw, Struct
from sqlalchemy.exc import SQLAlchemyError

from api.cdrs.ingest.event_decoder import DecodedEvent, decode_event
from api.cdrs.ingest.writer import write_events
from api.common.errors import ApiError
from api.db.database import Database
from api.engine_client import EngineClient
from wire.consumer_groups import Acknowledged, AcknowledgeEvents, LostEvents

GROUP = "cdrs"
POLL_TIMEOUT_S = 5
CLAIM_IDLE_S = 10  # what a dead process had is told again after that
BATCH_SIZE = 500
RETRY_DELAY_S = 1.0
WRITE_ERRORS = (SQLAlchemyError, OverflowError)  # the database is there, but can't hold this
log = structlog.get_logger()


class _Delivered(Struct, frozen=True, rename="camel"):
    """Like `wire.consumer_groups.Delivered`, but the event is not decoded: it may be newer."""

    id: str
    event: Raw


class _Batch(Struct, frozen=True, rename="camel"):
    events: tuple[_Delivered, ...]
    lost: tuple[LostEvents, ...] = ()


class EventConsumer:
    """One process' reader; all of them share a group."""

    def __init__(
        self, engine: EngineClient, database: Database, name: str, idle_s: float = CLAIM_IDLE_S
    ) -> None:
        self._engine = engine
        self._database = database
        self._name = name
        self._idle_s = idle_s

    async def run(self, pause_s: float = RETRY_DELAY_S) -> None:
        """Read until cancelled; engines and a database that are away are waited for."""
        while True:
            try:
                await self.once()
            except ApiError as error:
                log.warning("no call records", reason=error.detail)
                await asyncio.sleep(pause_s)
            except Exception:
                log.exception("no call records")  # whatever it is, the next batch may be well
                await asyncio.sleep(pause_s)

    async def once(self, wait_s: float = POLL_TIMEOUT_S) -> int:
        """Read a batch, write it, acknowledge it; returns how many records are new."""
        batch = await self._batch(wait_s)
        told = _read(batch.events)
        try:
            new, done = await self._write(list(told.values())), list(told)
        except WRITE_ERRORS as error:
            log.warning("a batch can't be written as one", reason=type(error).__name__)
            new, done = await self._one_by_one(told)
        for gap in batch.lost:
            log.error("call events were lost", slot=gap.slot, first=gap.first, most=gap.most)
        done += [gap.id for gap in batch.lost]
        if done:
            asked = AcknowledgeEvents(GROUP, tuple(done))
            await self._engine.request(Acknowledged, "POST", "/events/ack", asked)
        return new

    async def _batch(self, wait_s: float) -> _Batch:
        query = {
            "group": GROUP,
            "consumer": self._name,
            "wait": str(wait_s),
            "limit": str(BATCH_SIZE),
            "idle": str(self._idle_s),
        }
        return await self._engine.request(_Batch, "GET", "/events", query=query)

    async def _write(self, told: Sequence[DecodedEvent]) -> int:
        if not told:
            return 0
        async with self._database.writing() as connection:
            return await write_events(connection, told)

    async def _one_by_one(self, told: dict[str, DecodedEvent]) -> tuple[int, list[str]]:
        """Let what can be written not wait for what can't: that is told again, and logged."""
        new, done = 0, []
        for event_id, event in told.items():
            try:
                new += await self._write([event])
                done.append(event_id)
            except WRITE_ERRORS as error:
                log.error(  # noqa: TRY400 - its text and traceback hold what customers sent
                    "a call event can't be written", entry=event_id, reason=type(error).__name__
                )
        return new, done


def _read(events: Sequence[_Delivered]) -> dict[str, DecodedEvent]:
    """Read what is understood; the rest stays unacknowledged, for a newer version of us."""
    found = {}
    for each in events:
        try:
            found[each.id] = decode_event(each.event)
        except msgspec.DecodeError as error:
            log.error(  # noqa: TRY400 - the decoder's own sentence says it all
                "a call event is not understood", entry=each.id, error=str(error)
            )
    return found


def consumer_name(port: int) -> str:
    """Name this process, the same after a restart."""
    return re.sub("[^A-Za-z0-9_-]", "-", f"{socket.gethostname()[:48]}-{port}")


@asynccontextmanager
async def run_consumer(consumer: EventConsumer) -> AsyncIterator[None]:
    """Read for as long as the context lasts."""
    task = asyncio.create_task(consumer.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
