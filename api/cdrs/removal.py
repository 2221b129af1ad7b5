"""Finds and removes call records, and the digits in them."""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from api.cdrs.query.queries import Position
from api.cdrs.row_mapping import participant_numbers
from api.cdrs.tables import agents, bodies, cdrs, clients, digits, events, numbers
from api.db.columns import text_columns
from api.db.database import Database
from wire.decoding.messages import decode_message
from wire.events.record import CallRecord

FIRST: Position = (-1, -1)
EventPosition = tuple[str, int]  # of a call, in its events
FIRST_EVENT: EventPosition = ("", -1)
REMOVED = ""  # stands for digits and words that were removed
TEXTS = text_columns(cdrs, {"account_id": "the customer's"})
_INPUT = ("dtmf", "speech")  # what a caller has given in a gather


class StoredCall(Struct, frozen=True):
    """A stored call record; `record` is a CallRecord in JSON."""

    id: int
    account_id: str
    req_id: str
    started_ms: int
    client_id: str | None
    record: bytes

    @property
    def position(self) -> Position:
        return self.started_ms, self.id


class StoredEvent(Struct, frozen=True):
    call_id: str
    sequence_number: int
    body: bytes

    @property
    def position(self) -> EventPosition:
        return self.call_id, self.sequence_number


class CdrRemoval(Struct, frozen=True):
    database: Database

    async def calls_before(
        self, account_id: str, before_ms: int, after: Position, limit: int
    ) -> list[StoredCall]:
        """Return calls that began before a time, oldest first, after a position."""
        return await self._calls(account_id, before_ms, after, limit)

    async def recorded_before(
        self, account_id: str, before_ms: int, after: Position, limit: int
    ) -> list[StoredCall]:
        """Return those that have a recording or a voicemail."""
        has_audio = sa.or_(cdrs.c.has_recording, cdrs.c.has_voicemail)
        return await self._calls(account_id, before_ms, after, limit, has_audio)

    async def with_digits_before(
        self, account_id: str, before_ms: int, after: Position, limit: int
    ) -> list[StoredCall]:
        """Return those with digits or speech that were collected from the caller."""
        has_digits = sa.exists().where(
            digits.c.account_id == account_id,
            digits.c.started_ms == cdrs.c.started_ms,
            digits.c.cdr_id == cdrs.c.id,
        )
        return await self._calls(account_id, before_ms, after, limit, has_digits)

    async def calls_after(self, account_id: str, after: Position, limit: int) -> list[StoredCall]:
        """Return calls after a position, oldest first."""
        return await self._calls(account_id, None, after, limit)

    async def texts_of(self, calls: Sequence[StoredCall]) -> dict[int, list[str]]:
        """Return the texts in the rows of calls, such as dispositions, by the calls' ids."""
        query = sa.select(cdrs.c.id, *TEXTS).where(cdrs.c.id.in_([each.id for each in calls]))
        return {
            call: [each for each in texts if each]
            for call, *texts in await self.database.rows(query)
        }

    async def events_after(
        self, account_id: str, after: EventPosition, limit: int
    ) -> list[StoredEvent]:
        """Return events after a position, call by call."""
        position = sa.tuple_(events.c.call_id, events.c.sequence_number)
        query = (
            sa.select(events.c.call_id, events.c.sequence_number, events.c.body)
            .where(events.c.account_id == account_id, position > after)
            .order_by(events.c.call_id, events.c.sequence_number)
            .limit(limit)
        )
        return [StoredEvent(*row) for row in await self.database.rows(query)]

    async def remove(self, call: StoredCall, region: str | None) -> None:
        """Remove a call's record with all that belongs to it; `region` is its account's."""
        try:
            await self._remove(call, _written_numbers(call, region))
        except IntegrityError:  # written by another version, or for another region
            await self._remove(call, None)

    async def remove_events(self, account_id: str, call_id: str) -> int:
        """Remove the events of a call without a record; return how many there were."""
        return await self.database.execute(_delete_events(account_id, call_id))

    async def remove_digits(self, call: StoredCall) -> None:
        """Empty the digits and the speech of gathers in a call's record and events."""
        record = decode_message(call.record, CallRecord)
        emptied = tuple(
            replace(each, dtmf=REMOVED, speech=each.speech and REMOVED) for each in record.gathered
        )
        body = msgspec.json.encode(replace(record, gathered=emptied))
        async with self.database.writing() as connection:
            change = sa.update(bodies).where(bodies.c.cdr_id == call.id)
            await connection.execute(change.values(record=body))
            await _empty_events(connection, call)
            await connection.execute(sa.delete(digits).where(_digits_of(call)))

    async def _calls(
        self,
        account_id: str,
        before_ms: int | None,
        after: Position,
        limit: int,
        *conditions: sa.ColumnElement[bool],
    ) -> list[StoredCall]:
        position = sa.tuple_(cdrs.c.started_ms, cdrs.c.id)
        query = (
            sa.select(
                cdrs.c.id,
                cdrs.c.account_id,
                cdrs.c.req_id,
                cdrs.c.started_ms,
                cdrs.c.client_id,
                bodies.c.record,
            )
            .join(bodies, bodies.c.cdr_id == cdrs.c.id)
            .where(cdrs.c.account_id == account_id, position > after, *conditions)
            .order_by(cdrs.c.started_ms, cdrs.c.id)
            .limit(limit)
        )
        if before_ms is not None:
            query = query.where(cdrs.c.started_ms < before_ms)
        return [StoredCall(*row) for row in await self.database.rows(query)]

    async def _remove(self, call: StoredCall, written: Sequence[str] | None) -> None:
        its_numbers = [
            numbers.c.account_id == call.account_id,
            numbers.c.started_ms == call.started_ms,
            numbers.c.cdr_id == call.id,
        ]
        if written is not None:  # they lead the index
            its_numbers.append(numbers.c.number.in_(written))
        async with self.database.writing() as connection:
            await connection.execute(sa.delete(numbers).where(*its_numbers))
            await connection.execute(sa.delete(digits).where(_digits_of(call)))
            for table in (agents, bodies):
                await connection.execute(sa.delete(table).where(table.c.cdr_id == call.id))
            await connection.execute(_delete_events(call.account_id, call.req_id))
            await connection.execute(sa.delete(cdrs).where(cdrs.c.id == call.id))
            if call.client_id is not None:
                await _delete_unused_client(connection, call.account_id, call.client_id)


def _written_numbers(call: StoredCall, region: str | None) -> list[str]:
    """Return the numbers of a call's rows, unless the account's region has changed since."""
    try:
        record = decode_message(call.record, CallRecord)
    except msgspec.DecodeError:
        return []
    return [number for each in {region, None} for number in participant_numbers(record, each)]


async def _empty_events(connection: AsyncConnection, call: StoredCall) -> None:
    of_call = (events.c.account_id == call.account_id, events.c.call_id == call.req_id)
    query = sa.select(events.c.sequence_number, events.c.body).where(*of_call)
    for number, body in (await connection.execute(query)).all():
        fields: dict[str, Any] = msgspec.json.decode(body)
        if removed := {name: REMOVED for name in _INPUT if fields.get(name)}:
            emptied = msgspec.json.encode(fields | removed)
            change = sa.update(events).where(*of_call, events.c.sequence_number == number)
            await connection.execute(change.values(body=emptied))


async def _delete_unused_client(
    connection: AsyncConnection, account_id: str, client_id: str
) -> None:
    is_used = sa.exists().where(cdrs.c.account_id == account_id, cdrs.c.client_id == client_id)
    await connection.execute(
        sa.delete(clients).where(
            clients.c.account_id == account_id, clients.c.client_id == client_id, ~is_used
        )
    )


def _delete_events(account_id: str, call_id: str) -> sa.Delete:
    return sa.delete(events).where(events.c.account_id == account_id, events.c.call_id == call_id)


def _digits_of(call: StoredCall) -> sa.ColumnElement[bool]:
    return sa.and_(
        digits.c.account_id == call.account_id,
        digits.c.started_ms == call.started_ms,
        digits.c.cdr_id == call.id,
    )
