"""A person is erased everywhere, and the report says what was removed (M11)."""

import io
from collections.abc import AsyncIterator
from functools import partial

import msgspec
import pytest
import sqlalchemy as sa
from aiohttp.test_utils import make_mocked_request
from msgspec.structs import replace

from api.cdrs.tables import bodies, cdrs, events
from api.common.errors import NotFound, ServiceUnavailable
from api.contacts.tables import contacts, lists
from api.dnc.store import DncStore
from api.engine_client import open_client
from api.jobs.tables import jobs
from api.retention.erasure import ErasureReport
from api.retention.plugin import build
from engine.calls.model.call_id_format import shard_of
from engine.calls.model.events import LegAnswered, LegCreated
from engine.rpc.handlers.erasure import ErasureHandlers
from tests.harness.api.cdrs.records import leg, record, write_calls
from tests.harness.api.contacts.lists import BASE, a_list
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.ports import free_port
from tests.harness.rpc.scene import CALL, TOKEN, RpcScene, end, inject, is_stored_as
from tests.harness.until import until
from wire.decoding.errors import BadInput
from wire.erasure import EraseNumber
from wire.events.record import RecordingRecord
from wire.party import Diversion
from wire.shard import NO_SHARD

PERSON = "+4790000007"
AUDIO = "acme/2026-11-21/0-pbx1-call00000001.wav"


@pytest.fixture
async def rest(database_url: str, scene: RpcScene) -> AsyncIterator[Rest]:
    async with run_rest(settings_for(database_url, scene.url), scene) as made:
        yield made


async def erase(rest: Rest, number: str = PERSON) -> ErasureReport:
    return await rest.services.retention.erasure.erase("acme", number)


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
    assert report.left == []
    left = [each[-1] for (each,) in await rest.services.database.rows(sa.select(cdrs.c.req_id))]
    assert left == ["0", "6"]
    assert await rest.scene.archive.size(AUDIO) is None
    stored = await rest.services.database.rows(sa.select(bodies.c.record))
    assert sum(b"90000007" in body for (body,) in stored) == 1  # the other account's
    assert await count(rest, "cdr_events") == 6
    again = await erase(rest)
    assert not +again.removed


async def test_events_of_a_call_without_a_record(rest: Rest) -> None:
    """Of a call whose end was lost, say."""
    await write_persons_calls(rest)
    await rest.services.database.execute(
        sa.update(events)
        .where(events.c.call_id == record(0).call_id)
        .values(call_id="0-pbx1-lost", body=b'{"from":"+4790000007"}')
    )
    assert (await erase(rest)).removed["events of calls"] == 3


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
    handlers = ErasureHandlers(scene.store, shards, slice_s=0.0)
    request: EraseNumber | None = EraseNumber("acme", PERSON, "47")
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
    for number, other in ((PERSON, ""), ("+4790000008", "900 00 007"), ("+4790000009", "")):
        body = {"contactListId": list_id, "phoneNumber": number, "fields": {"phone2": other}}
        path = f"{BASE}/contactNumber"
        answer = await rest.request("POST", path, body, headers=headers)
        assert answer.is_success, answer.text
        headers = {}
    report = await erase(rest)
    assert report.removed["contacts"] == 2
    assert report.removed["stored responses"] == 1
    assert report.left == []
    database = rest.services.database
    assert await database.scalar(sa.select(contacts.c.phone_number)) == "+4790000009"
    assert await database.scalar(sa.select(lists.c.contacts)) == 1


async def test_jobs_in_progress(rest: Rest) -> None:
    """An import could bring the person back: the report says so."""
    row = {
        "id": "j", "account_id": "acme", "kind": "x", "state": "running", "payload": {},
        "done": 0, "attempts": 1, "due_ms": 0, "created_ms": 0,
    }  # fmt: skip
    database = rest.services.database
    await database.execute(sa.insert(jobs).values(row))
    assert (await erase(rest)).left == ["1 jobs are in progress: repeat this when they have ended"]
    done = {"state": "done", "ended_ms": 1, "payload": {"number": PERSON}}
    await database.execute(sa.update(jobs).values(done))
    report = await erase(rest)
    assert (report.left, report.removed["jobs"]) == ([], 1)
    assert await database.scalar(sa.select(jobs.c.payload)) == {}


async def test_what_is_kept(rest: Rest) -> None:
    """The objection to calls has to be remembered; the report counts it."""
    await DncStore(rest.services.database, rest.services.now_ms).put("acme", [PERSON], "p")
    report = await erase(rest)
    assert report.kept["do-not-call entries"] == 1
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
        await rest.services.retention.erasure.erase("nope", PERSON)
    unknown = {"account": "acme", "shard": "pbx9/9", "number": PERSON, "country": "47"}
    assert await rest.scene.problem("POST", "/erasures", unknown) == (400, "invalid")


async def test_no_engine(rest: Rest) -> None:
    """Nothing is removed, so that the report is never wrong."""
    await write_persons_calls(rest)
    services = rest.services
    async with open_client([f"http://127.0.0.1:{free_port()}"], TOKEN) as down:
        erasure = build(
            services.database,
            down,
            services.accounts,
            services.transcripts.store,
            services.now_ms,
        ).erasure
        with pytest.raises(ServiceUnavailable):
            await erasure.erase("acme", PERSON)
    assert await count(rest, "cdrs") == 7
    assert (await rest.scene.request("POST", "/calls", CALL))[0] == 201
