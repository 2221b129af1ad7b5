"""A person is erased everywhere, and the report says what was removed (M11)."""

import io
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path

import msgspec
import pytest
import sqlalchemy as sa
from aiohttp.test_utils import make_mocked_request
from msgspec.structs import replace

from api.audit.trail import AuditEntry
from api.cdrs.removal import (
    FIRST_EVENT,
    CdrRemoval,
    EventPosition,
    StoredCall,
    StoredEvent,
)
from api.cdrs.tables import bodies, cdrs, events
from api.common.errors import NotFound, ServiceUnavailable
from api.contacts.tables import contact_tags, contacts, list_tags, lists
from api.dnc.store import DncStore
from api.engine_client import open_client
from api.retention.erasure import Erasure, ErasureReport
from api.transcripts.store import TranscriptSegment, pack, transcripts
from engine.calls.model.events import LegAnswered, LegCreated
from engine.rpc.handlers.erasure import ErasureHandlers
from tests.harness.api.cdrs.records import leg, record, write_calls
from tests.harness.api.cli import switchroom
from tests.harness.api.contacts.lists import BASE, a_list, contacts_in
from tests.harness.api.databases import sqlite_url
from tests.harness.api.rest import SECRET, Rest, run_rest, settings_for
from tests.harness.callbacks.scene import commit_of
from tests.harness.customers.media_server import MediaServer
from tests.harness.ports import free_port
from tests.harness.rpc.scene import CALL, TOKEN, RpcScene, end, inject, is_stored_as
from tests.harness.until import until
from wire.call_id_format import shard_of
from wire.decoding.errors import BadInput
from wire.erasure import EraseNumber, ErasePrompts
from wire.events.record import RecordingRecord
from wire.media import Audio
from wire.party import Diversion
from wire.shard import NO_SHARD

PERSON = "+4790000007"
AUDIO = "acme/2026-11-21/0-pbx1-call00000001.wav"


def _texts(table: sa.Table) -> list[sa.Column[str]]:
    return [each for each in table.c if isinstance(each.type, sa.String | sa.JSON)]


@pytest.fixture
async def rest(database_url: str, scene: RpcScene) -> AsyncIterator[Rest]:
    async with run_rest(settings_for(database_url, scene.url), scene) as made:
        yield made


async def no_prompts(_body: ErasePrompts) -> tuple[int, int]:
    return 0, 0


async def erase(rest: Rest, number: str = PERSON) -> ErasureReport:
    return await rest.services.erasure.erase("acme", number)


async def write_persons_calls(rest: Rest) -> None:
    """Write call 0 of somebody else, and 1 to 5 that name the person in different places."""
    audio = RecordingRecord(f"s3://bucket/{AUDIO}", "call", "archived", 9_000)
    await rest.scene.archive.put(AUDIO, io.BytesIO(b"audio"))
    await write_calls(
        rest.services.database,
        record(0),
        record(1, from_=PERSON, recordings=(audio,)),
        record(2, legs=(leg("90000007"),)),
        record(3, diversion=(Diversion("004790000007"),)),
        record(4, custom_data={"note": "call back 900 00 007"}),
        record(5, to="sip:+4790000007@sbc.example.com"),
        record(6, account_id="other", from_=PERSON),
    )


async def count(rest: Rest, table: str) -> int:
    counted = sa.select(sa.func.count()).select_from(sa.table(table))
    return int(await rest.services.database.scalar(counted))


async def test_call_records_and_recordings(rest: Rest) -> None:
    """However the number is written; other persons' calls and other accounts' stay."""
    await write_persons_calls(rest)
    report = await erase(rest, "90000007")
    assert (report.removed["call records"], report.removed["recordings"]) == (5, 1)
    assert (report.searched, report.left) == (6, [])
    left = [each[-1] for (each,) in await rest.services.database.rows(sa.select(cdrs.c.req_id))]
    assert left == ["0", "6"]
    assert await rest.scene.archive.size(AUDIO) is None
    stored = await rest.services.database.rows(sa.select(bodies.c.record))
    assert sum(b"90000007" in body for (body,) in stored) == 1  # the other account's
    assert await count(rest, "cdr_events") == 6
    again = await erase(rest)
    assert not +again.removed


async def test_spellings_of_the_accounts_country(rest: Rest) -> None:
    """What lists find by the number is removed, and so are other spellings, also as a number."""
    account = await rest.services.accounts.get("acme")
    await rest.services.accounts.change(replace(account, region="HU"))
    notes = [
        "call back 06 20 123 4567",
        36201234567,
        36201234567.0,
        "2\u202f0\uff11234567",
        "201234568",
    ]
    await write_calls(
        rest.services.database,
        *(record(each, to=to) for each, to in enumerate(("06201234567", "+3606201234567"))),
        *(record(each, custom_data={"v": note}) for each, note in enumerate(notes, start=2)),
    )
    assert (await erase(rest, "+36201234567")).removed["call records"] == 6
    assert await rest.services.database.scalar(sa.select(cdrs.c.req_id)) == record(6).call_id


async def test_a_call_whose_record_omits_the_number(rest: Rest) -> None:
    """As of the first legs of a call with very many; its events have it."""
    await write_persons_calls(rest)
    is_last = (events.c.call_id == record(0).call_id, events.c.sequence_number == 2)
    change = sa.update(events).where(*is_last).values(body=b'{"party":"+4790000007"}')
    await rest.services.database.execute(change)
    assert (await erase(rest)).removed["call records"] == 6
    assert await count(rest, "cdr_events") == 3  # the other account's


async def write_transcript(rest: Rest, call: int, *texts: str, state: str = "done") -> None:
    """Write what was said in a call, an utterance each."""
    said = [TranscriptSegment("main", at, at + 1, text, 0.9) for at, text in enumerate(texts)]
    row = {
        "account_id": "acme",
        "path": f"2026-11-21/{call}.wav",
        "call_id": record(call).call_id,
        "state": state,
        "channels_done": 1,
        "segments": pack(said),
        "ended_ms": 1 if state == "done" else None,
        **dict.fromkeys(("attempts", "turn", "due_ms", "created_ms"), 0),
    }
    await rest.services.database.execute(sa.insert(transcripts).values(row))


async def test_calls_whose_transcripts_say_the_number(rest: Rest) -> None:
    """Also with a pause in it, in a transcript that is being made, or without a record."""
    await write_calls(rest.services.database, *map(record, range(3)))
    await write_transcript(rest, 0, "Call 90 00 00 08 please.")
    await write_transcript(rest, 1, "Hello.", "Call +47 90 00", "00 07 please.")
    await write_transcript(rest, 2, "It is 900 00 007, she said.", state="running")
    await write_transcript(rest, 3, "90000007")
    report = await erase(rest)
    assert (report.removed["call records"], report.removed["transcripts"]) == (2, 1)
    assert report.left == []  # the one in progress went with its call
    left = await rest.services.database.rows(sa.select(transcripts.c.call_id))
    assert [call_id for (call_id,) in left] == [record(0).call_id]


async def test_transcripts_in_progress_are_reported(rest: Rest) -> None:
    """What they will say is not known yet."""
    await write_calls(rest.services.database, record(0))
    await write_transcript(rest, 0, state="queued")
    assert (await erase(rest)).left == [
        "1 transcripts are in progress: repeat this when they are done"
    ]


async def test_events_of_a_call_without_a_record(rest: Rest) -> None:
    """Of a call whose end was lost, say."""
    await write_persons_calls(rest)
    await rest.services.database.execute(
        sa.update(events)
        .where(events.c.call_id == record(0).call_id)
        .values(call_id="0-pbx1-lost", body=b'{"from":"+4790000007"}')
    )
    assert (await erase(rest)).removed["events of calls"] == 3


async def mention_in(rest: Rest, call_id: str) -> None:
    """Store a call's events, without a record; the last one has the person's number."""
    of_call = events.c.call_id == record(0).call_id
    last = sa.update(events).where(of_call, events.c.sequence_number == 2)
    await rest.services.database.execute(last.values(body=b'{"dtmf":"4790000007"}'))
    change = sa.update(events).where(of_call).values(call_id=call_id)
    await rest.services.database.execute(change)


class CallMeanwhile(CdrRemoval, frozen=True):
    """Reads events, of a call that starts then."""

    start: Callable[[], Awaitable[None]]

    async def events_after(
        self, account_id: str, after: EventPosition, limit: int
    ) -> list[StoredEvent]:
        """Read a page."""
        if after == FIRST_EVENT:
            await self.start()
        return await CdrRemoval.events_after(self, account_id, after, limit)


class LateRecords(CdrRemoval, frozen=True):
    """Finds no record, as each is written behind the search."""

    async def calls_after(
        self, account_id: str, after: tuple[int, int], limit: int
    ) -> list[StoredCall]:
        """Find none."""
        del account_id, after, limit
        return []


@pytest.mark.parametrize("is_early", [True, False])
async def test_a_live_call_whose_events_have_the_number(rest: Rest, *, is_early: bool) -> None:
    """Its events so far are not deleted before its record: it is named, and left."""
    await write_persons_calls(rest)
    calls = list[str]()

    async def start() -> None:
        calls.append(await rest.scene.start_call())
        await mention_in(rest, calls[0])

    if is_early:
        await start()
        erasure = rest.services.erasure
    else:
        removal = CallMeanwhile(rest.services.database, start)
        erasure = replace(rest.services.erasure, removal=removal)
    report = await erasure.erase("acme", PERSON)
    assert report.left == [f"call {calls[0]} is live: repeat this when it has ended"]
    assert report.removed["events of calls"] == 0
    for event in (LegCreated(f"{calls[0]}.l0"), LegAnswered(f"{calls[0]}.l0")):
        inject(rest.scene, event)
    end(rest.scene, calls[0])
    await until(lambda: is_stored_as(rest.scene, calls[0], "completed"), what="the end")
    report = await erase(rest)
    assert (report.left, report.removed["events of calls"]) == ([], 3)


async def test_a_record_that_is_written_meanwhile(rest: Rest) -> None:
    """Behind the search, it is found by the next erasure."""
    await write_calls(rest.services.database, record(0))
    await mention_in(rest, record(0).call_id)
    late = replace(rest.services.erasure, removal=LateRecords(rest.services.database))
    said = f"call {record(0).call_id} has ended meanwhile: repeat this"
    assert (await late.erase("acme", PERSON)).left == [said]
    assert (await erase(rest)).removed["call records"] == 1


async def test_what_engines_have(rest: Rest) -> None:
    """Ended calls, their logs and events are removed; a live call is named, and left."""
    scene = rest.scene
    ended, live = [await scene.start_call(to=PERSON) for _ in range(2)]
    for event in (LegCreated(f"{ended}.l0"), LegAnswered(f"{ended}.l0")):
        inject(scene, event)
    end(scene, ended)
    await until(lambda: is_stored_as(scene, ended, "completed"), what="the end")
    report = await erase(rest)
    assert report.left == [f"call {live} is live: repeat this when it has ended"]
    assert report.removed["calls in the store"] == 1
    assert report.removed["undelivered events"] > 0
    assert await scene.service.read(ended) is None
    shard = shard_of(ended) or NO_SHARD
    assert await scene.store.log(shard, ended) == []
    found = await scene.store.stream.read_after(
        dict.fromkeys(rest.scene.dependencies.shards.all, "0"), limit=1_000
    )
    calls = {msgspec.json.decode(body)["callId"] for _, _, body in found}
    assert (ended in calls, live in calls) == (False, True)
    assert (await scene.service.read(live)) is not None


async def test_prompts_in_audio_caches(rest: Rest) -> None:
    """An address that names the person is forgotten; another one, and other accounts', is not."""
    clips = rest.scene.dependencies.clip_cache
    async with MediaServer() as sounds:
        named, other = Audio(sounds.tone(600, 100) + "?to=90000007"), Audio(sounds.tone(700, 100))
        for account, source in (("acme", named), ("acme", other), ("other", named)):
            await clips.fetch(account, source)
        assert (await erase(rest)).removed["cached prompts"] == 1
    assert clips.cached("acme", named) is None
    assert None not in (clips.cached("acme", other), clips.cached("other", named))


async def test_events_that_wait_for_a_customers_server(rest: Rest) -> None:
    """They are not delivered later; those of others are."""
    shard, outbox = rest.scene.dependencies.shards.all[0], rest.scene.store.callback_queue
    call = f"{shard.slot}-{shard.node}-aaaaaaaa"
    events = tuple(msgspec.json.encode({"to": to}) for to in (PERSON, "+4790000009", PERSON))
    outbox.append(
        shard,
        replace(commit_of(call, 0, 1, 2, account="acme", target="auto-set"), callbacks=events),
    )
    report = await erase(rest)
    assert report.removed["undelivered events"] == 2
    assert (await outbox.pending_events(shard, call, 10)).events == ((1, events[1]),)


async def test_engines_erase_in_slices(rest: Rest) -> None:
    """Each request does some of it, and says where the next one continues; together they do all."""
    scene = rest.scene
    ended = [await scene.start_call(to=PERSON) for _ in range(3)]
    for call_id in ended:
        inject(scene, LegCreated(f"{call_id}.l0"))
        inject(scene, LegAnswered(f"{call_id}.l0"))
        end(scene, call_id)
        await until(partial(is_stored_as, scene, call_id, "completed"), what="the end")
    shards = scene.dependencies.shards
    handlers = ErasureHandlers(scene.store, shards, no_prompts, slice_s=0.0)
    request: EraseNumber | None = EraseNumber("acme", PERSON)
    cursors, calls = list[str](), 0
    while request is not None:
        result = await handlers.erase(make_mocked_request("POST", "/"), request)
        calls += result.ended_calls
        cursors.append(f"{result.next_shard} {result.next_cursor}")
        following = replace(request, shard=result.next_shard, cursor=result.next_cursor)
        request = following if result.next_shard else None
    assert calls == len(ended)
    assert len(set(cursors)) == len(cursors) >= 3 * len(shards.all)
    for call_id in ended:
        assert await scene.service.read(call_id) is None


async def test_contacts_and_copies(rest: Rest) -> None:
    """Contacts, also with the number in a field; stored responses; what jobs were asked."""
    list_id = await a_list(rest.services, assigned_fields=["phone2"])
    headers = {"Idempotency-Key": "one"}
    for number, other, name in (
        (PERSON, "", ""),
        ("+4790000008", "9 0 0 0 0 0 0 7", ""),
        ("+4790000006", "", "Ada 900 00 007"),
        ("+4790000009", "", ""),
    ):
        body = {"contactListId": list_id, "phoneNumber": number, "fields": {"phone2": other}}
        body |= {"fName": name} if name else {}
        path = f"{BASE}/contactNumber"
        answer = await rest.request("POST", path, body, headers=headers)
        assert answer.is_success, answer.text
        headers = {}
    report = await erase(rest)
    assert report.removed["contacts"] == 3
    assert report.removed["stored responses"] == 1
    assert report.left == []
    database = rest.services.database
    assert await database.scalar(sa.select(contacts.c.phone_number)) == "+4790000009"
    assert await database.scalar(sa.select(lists.c.contacts)) == 1


@pytest.mark.parametrize("column", _texts(contacts), ids=str)
async def test_any_text_of_a_contact(rest: Rest, column: sa.Column[str]) -> None:
    """Each column with texts is searched, also a new one, but for known ones."""
    list_id = await a_list(rest.services)
    rows = [{"phone_number": f"+479000000{each}"} for each in (8, 9)]
    person, _ = await contacts_in(rest.services, list_id, *rows)
    change = sa.update(contacts).where(contacts.c.id == int(person))
    await rest.services.database.execute(change.values({column: "90000007"}))
    is_copy = column.name.endswith("_key") or column.name == "account_id"
    assert (await erase(rest)).removed["contacts"] == (0 if is_copy else 1)


@pytest.mark.parametrize("column", _texts(cdrs), ids=str)
async def test_any_text_of_a_call(rest: Rest, column: sa.Column[str]) -> None:
    """Such as a disposition, which is in no record and no event."""
    await write_calls(rest.services.database, record(0), record(1))
    change = sa.update(cdrs).where(cdrs.c.req_id == record(1).call_id)
    await rest.services.database.execute(change.values({column: "90000007"}))
    report = await erase(rest)
    assert report.removed["call records"] == (0 if column.name == "account_id" else 1)


async def test_tags(rest: Rest) -> None:
    """A tag is of all contacts of a list: it is removed, and they stay."""
    list_id = await a_list(rest.services)
    rows = [{"phone_number": f"+479000000{each}"} for each in (8, 9)]
    await contacts_in(rest.services, list_id, *rows, tags=("like 900 00 007", "vip"))
    await rest.services.database.execute(
        sa.insert(list_tags).values(list_id=int(list_id), tag_id="like 900 00 007")
    )
    report = await erase(rest)
    assert (report.removed["tags"], report.removed["contacts"]) == (1, 0)
    left = await rest.services.database.rows(sa.select(contact_tags.c.tag_id))
    assert left == [("vip",), ("vip",)]
    assert await count(rest, "contact_list_tags") == 0


async def test_calls_on_the_day_of_a_number(rest: Rest) -> None:
    """The number of a person may have the digits of a day: the calls of others stay."""
    account = await rest.services.accounts.get("acme")
    await rest.services.accounts.change(replace(account, region="DK"))
    audio = RecordingRecord(
        "s3://bucket/acme/2026-11-30/0-pbx1-call00000000.wav", "call", "archived", 9
    )
    await write_calls(rest.services.database, record(0, recordings=(audio,)))
    list_id = await a_list(rest.services)
    row = {"phone_number": "+4520000000", "fields": '{"born":"2026-11-30"}'}
    await contacts_in(rest.services, list_id, row)
    assert not +(await erase(rest, "+4520261130")).removed
    assert (await count(rest, "cdrs"), await count(rest, "contacts")) == (1, 1)


async def test_what_is_kept(rest: Rest) -> None:
    """The objection to calls has to be remembered; the report counts it."""
    await DncStore(rest.services.database, rest.services.now_ms).put("acme", [PERSON], "p")
    trail = rest.services.audit
    for path in ("/srmain/contacts/900%2000%20007", "/srmain/contacts/+4790000008"):
        trail.add(AuditEntry("acme", 1, "key:k", "GET", path, "200"))
    await trail.flush()
    report = await erase(rest)
    assert report.kept == {"do-not-call entries": 1, "audit entries": 1}
    assert await count(rest, "dnc_entries") == 1


async def test_a_recording_that_is_not_archived_yet(rest: Rest) -> None:
    """The record stays until the recording can be removed, too."""
    now_ms = rest.services.now_ms()
    young = RecordingRecord("s3://b/acme/2026-11-21/0-pbx1-call00000001.wav", "call", "ended", 9)
    await write_calls(
        rest.services.database, record(1, from_=PERSON, ended_ms=now_ms, recordings=(young,))
    )
    await rest.services.database.execute(sa.update(events).values(body=b'{"from":"+4790000007"}'))
    report = await erase(rest)
    assert "not archived yet" in report.left[0]
    assert await count(rest, "cdrs") == 1
    assert await count(rest, "cdr_events") == 3


async def test_wrong_input(rest: Rest) -> None:
    """It is rejected before anything is removed."""
    with pytest.raises(BadInput, match="not a phone number"):
        await erase(rest, "Ada")
    with pytest.raises(NotFound):
        await rest.services.erasure.erase("nope", PERSON)
    unknown = {"account": "acme", "shard": "pbx9/9", "number": PERSON}
    assert await rest.scene.problem("POST", "/erasures", unknown) == (400, "invalid")


async def test_no_engine(rest: Rest) -> None:
    """Nothing is removed, so that the report is never wrong."""
    await write_persons_calls(rest)
    services = rest.services
    async with open_client([f"http://127.0.0.1:{free_port()}"], TOKEN) as down:
        erasure = Erasure.build(replace(services, engine=down))
        with pytest.raises(ServiceUnavailable):
            await erasure.erase("acme", PERSON)
    assert await count(rest, "cdrs") == 7
    assert (await rest.scene.request("POST", "/calls", CALL))[0] == 201


@pytest.mark.parametrize("is_left", [True, False])
async def test_the_command(tmp_path: Path, scene: RpcScene, *, is_left: bool) -> None:
    """It reports what it has removed and kept; its status tells whether something is left."""
    async with run_rest(settings_for(sqlite_url(tmp_path), scene.url), scene) as rest:
        await write_persons_calls(rest)
        await DncStore(rest.services.database, rest.services.now_ms).put("acme", [PERSON], "p")
        live = [await scene.start_call(to=PERSON)] if is_left else []
    status, said = await switchroom(
        tmp_path,
        *("account", "erase", "acme", PERSON),
        SWITCHROOM_ENGINE_URLS=f'["{scene.url}"]',
        SWITCHROOM_RPC_TOKEN=TOKEN,
        SWITCHROOM_TOKEN_SECRET=SECRET,
    )
    lines = {*said.splitlines()}
    reported = {"5 call records removed", "1 recordings removed"}
    assert reported | {"1 do-not-call entries that name the number kept"} <= lines
    left = [f"switchroom: call {each} is live: repeat this when it has ended" for each in live]
    assert (status, [each for each in lines if each.startswith("switchroom: ")]) == (
        int(is_left),
        left,
    )
