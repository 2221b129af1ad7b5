"""Personal data is removed once its account's time is over: records, recordings, digits (M11)."""

import io
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from structlog.testing import capture_logs

from api.cdrs.event_writer import DecodedEvent, write_events
from api.cdrs.removal import CdrRemoval, StoredCall
from api.cdrs.store import CdrStore
from api.cdrs.tables import bodies, cdrs, clients, events
from api.db.database import Database
from api.engine_client import open_client
from api.retention.expiry import DAY_MS, Expiry
from tests.harness.api.cdrs.records import NOON_MS, record, write_calls
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.ports import free_port
from tests.harness.rpc.scene import TOKEN, RpcScene
from wire.events.record import CallRecord, GatherRecord, RecordingRecord

DAY = "2026-11-21"
TABLES = ("cdrs", "cdr_bodies", "cdr_numbers", "cdr_agents", "cdr_digits", "cdr_events")


def path_of(number: int) -> str:
    return f"acme/{DAY}/0-pbx1-call{number:08}.wav"


def call(number: int, day: int, state: str = "archived") -> CallRecord:
    """Return a call with a recording and digits that began some days after noon."""
    after_ms = day * DAY_MS
    return record(
        number,
        after_ms=after_ms,
        recordings=(RecordingRecord(f"s3://bucket/{path_of(number)}", "call", state, 9_000),),
        gathered=(GatherRecord(NOON_MS + after_ms, "l0", f"77{number:05}", "finishOnKey"),),
        labels={"clientId": f"client{number}"},
    )


class Kept:
    """A REST layer with calls 0, 1 and 2, of days 0, 10 and 20; it is day 20."""

    def __init__(self, rest: Rest, clock: ManualClock) -> None:
        self.rest, self.clock = rest, clock
        self.database: Database = rest.services.database

    async def limit(self, **days: int) -> None:
        accounts = self.rest.services.accounts
        await accounts.change(replace(await accounts.get("acme"), **days))

    async def expire(self) -> None:
        await self.rest.services.expiry.run_once()

    async def stored(self) -> list[str]:
        """Return the ids of calls that are stored, the newest last."""
        return [each[-1] for (each,) in await self.database.rows(sa.select(cdrs.c.req_id))]

    async def record(self, number: int) -> CallRecord:
        row = await CdrStore(self.database).get("acme", call(number, 0).call_id)
        assert row is not None
        return msgspec.json.decode(row.record, type=CallRecord)

    async def has_audio(self, number: int) -> bool:
        return await self.rest.scene.archive.size(path_of(number)) is not None

    async def count(self, table: str) -> int:
        counted = sa.select(sa.func.count()).select_from(sa.table(table))
        return int(await self.database.scalar(counted))


@pytest.fixture
async def kept(database_url: str, scene: RpcScene) -> AsyncIterator[Kept]:
    clock = ManualClock()
    clock.now = NOON_MS + 20 * DAY_MS + 1
    settings = settings_for(database_url, scene.url)
    async with run_rest(settings, scene, clock) as rest:
        calls = [call(0, 0), call(1, 10), call(2, 20)]
        await write_calls(rest.services.database, *calls)
        for number in range(len(calls)):
            await scene.archive.put(path_of(number), io.BytesIO(b"audio"))
        yield Kept(rest, clock)


async def test_nothing_expires_without_a_limit(kept: Kept) -> None:
    """Who sets none keeps all."""
    await kept.expire()
    assert await kept.stored() == ["0", "1", "2"]
    assert (await kept.record(0)).gathered[0].dtmf == "7700000"


async def test_records_expire_with_all_that_belongs_to_them(kept: Kept) -> None:
    """No row, no event, no audio remains; other calls are as before."""
    await kept.limit(keep_records_days=10)
    await kept.expire()
    assert await kept.stored() == ["2"]
    rows = [await kept.count(table) for table in TABLES]
    assert rows == [1, 1, 2, 0, 1, 3]
    assert [await kept.has_audio(number) for number in range(3)] == [False, False, True]
    names = [name for (name,) in await kept.database.rows(sa.select(clients.c.client_id))]
    assert names == ["client2"]


async def test_recordings_expire_before_their_records(kept: Kept) -> None:
    """The record stays, and says that there is none any more."""
    await kept.limit(keep_recordings_days=15)
    await kept.expire()
    assert [await kept.has_audio(number) for number in range(3)] == [False, True, True]
    states = [(await kept.record(number)).recordings[0].state for number in range(3)]
    assert states == ["deleted", "archived", "archived"]


async def test_digits_expire(kept: Kept) -> None:
    """Neither the record nor a stored event has them; and each call is looked at once."""
    await kept.limit(keep_digits_days=5)
    await kept.expire()
    found = [(await kept.record(number)).gathered[0].dtmf for number in range(3)]
    assert found == ["", "", "7700002"]
    assert await kept.count("cdr_digits") == 1
    for (body,) in await kept.database.rows(sa.select(bodies.c.record)):
        assert b"7700000" not in body


async def test_what_gathers_understood_expires_with_the_digits(kept: Kept) -> None:
    """Of a call with digits, too, and of one with speech only; in records and events."""
    spoken = GatherRecord(NOON_MS, "l0", "", "speech", speech="my pin is one two", confidence=0.9)
    calls = [
        replace(call(3, 0), gathered=(spoken,)),
        replace(call(4, 0), gathered=(*call(4, 0).gathered, spoken)),
    ]
    for each in calls:
        body = msgspec.json.encode({"event": "gathered", "dtmf": "", "speech": spoken.speech})
        event = DecodedEvent("acme", each.call_id, 5, body, each)
        async with kept.database.writing() as connection:
            await write_events(connection, [event])
    await kept.limit(keep_digits_days=5)
    await kept.expire()
    records = [await kept.record(number) for number in (3, 4)]
    assert {each.speech for record in records for each in record.gathered} == {"", None}
    for table in (bodies.c.record, events.c.body):
        assert not [
            text for (text,) in await kept.database.rows(sa.select(table)) if b"pin" in text
        ]


async def test_a_recording_that_is_not_archived_yet(kept: Kept) -> None:
    """Its record leads to it: it is kept until the recording came, or can't come any more."""
    late = call(3, 20, state="ended")
    await write_calls(kept.database, late)
    await kept.limit(keep_records_days=1)
    kept.clock.now = late.ended_ms + DAY_MS - 1_000
    await kept.limit(keep_records_days=0)
    await kept.rest.services.expiry.run_once()
    assert "3" in await kept.stored()
    kept.clock.now = late.ended_ms + DAY_MS
    await kept.rest.services.expiry.run_once()
    assert "3" not in await kept.stored()


async def test_a_bad_record_does_not_keep_the_others(kept: Kept) -> None:
    """It is removed as far as it can be read; so are those after it."""
    broken = sa.update(bodies).where(bodies.c.cdr_id == 1).values(record=b"{")
    await kept.database.execute(broken)
    await kept.limit(keep_records_days=5)
    await kept.expire()
    assert await kept.stored() == ["2"]


class BrokenRemoval(CdrRemoval, frozen=True):
    """Cannot look for calls of the first account."""

    async def calls_before(self, account_id: str, *more: Any) -> list[StoredCall]:
        if account_id == "acme":
            raise OverflowError
        return await super().calls_before(account_id, *more)


async def test_an_account_that_fails_does_not_keep_the_others(kept: Kept) -> None:
    """It is logged with its id; calls of the accounts after it expire."""
    services = kept.rest.services
    await write_calls(kept.database, record(5, account_id="other"))
    for account in ("acme", "other"):
        found = await services.accounts.get(account)
        await services.accounts.change(replace(found, keep_records_days=1))
    broken = replace(services.expiry, removal=BrokenRemoval(kept.database))
    with capture_logs() as logged:
        await broken.run_once()
    assert await kept.stored() == ["0", "1", "2"]
    errors = [each["account"] for each in logged if each["log_level"] == "error"]
    assert errors == ["acme"]


async def test_an_archive_that_is_down(kept: Kept) -> None:
    """Nothing is removed half; the next run removes it."""
    await kept.limit(keep_records_days=5)
    services = kept.rest.services
    async with open_client([f"http://127.0.0.1:{free_port()}"], TOKEN) as down:
        await Expiry.build(replace(services, engine=down)).run_once()
    assert await kept.stored() == ["0", "1", "2"]
    assert [await kept.has_audio(number) for number in range(3)] == [True] * 3
    await kept.expire()
    assert await kept.stored() == ["2"]
