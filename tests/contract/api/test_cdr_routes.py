"""`/srmain/cdr…` over HTTP, on databases of both kinds."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.contract.api.records import CUSTOMER, NOON_MS, leg, missed, record, recording, written
from tests.contract.api.serving import Served, serving

REQUIRED = {
    "dialedNumber": "",
    "dispositionLevel1Id": "",
    "dispositionLevel2Id": "",
    "dispositionLevel3Id": "",
}
ODD_TIMES = [
    "yesterday",
    "1700000000",
    "2026-11-21",
    "2026-13-01T00:00:00Z",
    "2026-06-31T00:00:00Z",
    "20261121T100000Z",
    "2026-11-21T10:00:00+99:99",
    "0001-01-01T00:00:00+14:00",
    "",
]
BAD = [
    ("limit", "0"),
    ("limit", "1001"),
    ("limit", "ten"),
    ("limit", "1e999"),
    ("offset", "-1"),
    ("offset", "100001"),
    ("startTime", "2026-11-21T10:00:00Z"),
    ("endTime", "2026-11-21T10:00:00Z"),
    ("callerId", "+47%"),
    ("toNumber", "' OR 1=1"),
    ("dialedNumber", "47*\n"),
    ("reqId", "%"),
    ("clientId", "c*"),
    ("clientId", "c" * 257),
    ("callPath", "a\\b"),
    ("obdType", "\x00"),
    ("answerStatus", "maybe"),
    ("recordingPurpose", "fax"),
    ("dispositionLevel1Id", "?"),
    ("dispositionLevel2Id", "%"),
    ("dispositionLevel3Id", "x" * 257),
    ("agentName", ",".join(map(str, range(21)))),
    ("agentName", "Ni%"),
    ("cursor", "not-one"),
    ("callerid", "+4733333333"),
]
FOUND: list[tuple[dict[str, str], list[int]]] = [
    ({"reqId": "0-pbx1-call00000001"}, [1]),
    ({"clientId": "c-7"}, [1]),
    ({"callerId": " 4733333333"}, [2]),
    ({"toNumber": CUSTOMER}, [3, 2, 1]),
    ({"dialedNumber": "+4755555555"}, [1]),
    ({"callPath": "inbound"}, [3]),
    ({"obdType": "survey"}, [1]),
    ({"answerStatus": "missed"}, [3]),
    ({"answerStatus": "answered"}, [2, 1]),
    ({"recordingPurpose": "voicemail"}, [2]),
    ({"dispositionLevel1Id": "sale"}, [1]),
    ({"agentName": "Olga, Nina"}, [1]),
    ({"startTime": "2026-11-21T12:00:02Z", "endTime": "2026-11-21T12:00:03Z"}, [2]),
    ({"startTime": "2026-11-21T13:00:02+01:00", "endTime": "2026-11-21T13:00:03 01:00"}, [2]),
    ({"answerStatus": "", "recordingPurpose": "", "reqId": "", "agentName": ""}, [3, 2, 1]),
]
NINA = leg("agent:7", agent_id="7", agent_name="Nina")


@pytest.fixture
async def rest(database_url: str) -> AsyncIterator[Served]:
    """Serve at five minutes past noon."""
    async with serving(database_url, clock=lambda: NOON_MS + 300_000) as found:
        yield found


async def listed(rest: Served, who: str = "acme", **query: object) -> dict[str, Any]:
    """Ask for a page."""
    status, page = await rest.ask("GET", "/srmain/cdr", who, **{**REQUIRED, **query})
    assert status == 200, page
    return dict(page)


async def test_a_record_is_shown_whole(rest: Served) -> None:
    """Times, parties, recordings, dispositions; by id its timeline, too."""
    call = record(
        1,
        legs=(leg(CUSTOMER), NINA),
        labels={"clientId": "c-7", "obdType": "survey"},
        recordings=(recording("call"),),
        answered_by="machine",
        custom_data={"order": 7},
    )
    await written(rest.parts.database, call)
    (shown,) = (await listed(rest))["data"]
    assert {name: shown[name] for name in ("reqId", "clientId", "obdType", "callPath")} == {
        "reqId": call.call_id,
        "clientId": "c-7",
        "obdType": "survey",
        "callPath": "outbound",
    }
    assert (shown["startTime"], shown["answerTime"]) == (
        "2026-11-21T12:00:00.000Z",
        "2026-11-21T12:00:02.000Z",
    )
    assert (shown["ringMs"], shown["talkMs"], shown["holdMs"], shown["durationMs"]) == (
        2_000, 30_000, 0, 32_000,
    )  # fmt: skip
    assert shown["agents"] == [{"agentId": "7", "agentName": "Nina"}]
    assert shown["recordings"][0]["url"] == "https://files.example/call.wav"
    assert (shown["recordingPurpose"], shown["answerStatus"]) == ("call", "answered")
    assert (shown["answeredBy"], shown["customData"]) == ("machine", {"order": 7})
    assert shown["dispositionLevel1Id"] is None
    assert [each["party"] for each in shown["legs"]] == [CUSTOMER, "agent:7"]
    status, whole = await rest.ask("GET", f"/srmain/cdr/{call.call_id}")
    assert status == 200
    timeline = whole.pop("timeline")
    assert whole == shown
    assert [each["event"] for each in timeline] == ["initiated", "answered", "completed"]
    assert [each["sequenceNumber"] for each in timeline] == [0, 1, 2]


async def test_pages_and_totals(rest: Served) -> None:
    """Ten by default; by offset or by cursor; a total that is exact up to its limit."""
    await written(rest.parts.database, *(record(n, after_ms=n) for n in range(25)))
    first = await listed(rest)
    assert (len(first["data"]), first["total"], first["totalIsExact"]) == (10, 25, True)
    assert (first["limit"], first["offset"]) == (10, 0)
    second = await listed(rest, offset=10)
    assert await listed(rest, cursor=first["nextCursor"]) == {**second, "offset": 0}
    last = await listed(rest, offset=20)
    assert (len(last["data"]), last["total"], last["nextCursor"]) == (5, 25, None)
    beyond = await listed(rest, offset=30)
    assert (beyond["data"], beyond["total"]) == ([], 25)


async def test_filters_as_the_specification_names_them(rest: Served) -> None:
    """Each finds what it should; empty means any."""
    labels = {"clientId": "c-7", "obdType": "survey"}
    dialed = (CUSTOMER, "+4755555555")
    await written(
        rest.parts.database,
        record(1, after_ms=1_000, legs=(NINA,), labels=labels, dialed_numbers=dialed),
        record(2, after_ms=2_000, caller_id="+4733333333", recordings=(recording("voicemail"),)),
        missed(3, after_ms=3_000, direction="inbound"),
    )
    path = "/srmain/cdr/0-pbx1-call00000001/disposition"
    status, shown = await rest.ask("PATCH", path, body={"dispositionLevel1Id": "sale"})
    assert (status, shown["dispositionLevel1Id"]) == (200, "sale")
    for query, numbers in FOUND:
        found = await listed(rest, **query)
        assert [int(each["reqId"][-8:]) for each in found["data"]] == numbers, query


async def test_bad_input_names_its_field(rest: Served) -> None:
    """The list and the export refuse the same things; half a time range names the missing half."""
    for name, value in BAD:
        expected = {"startTime": "endTime", "endTime": "startTime"}.get(name, name)
        query = {**REQUIRED, name: value}
        assert await rest.faults("GET", "/srmain/cdr", **query) == {expected}, (name, value)
        if (name, value) != ("limit", "1001"):
            assert await rest.faults("POST", "/srmain/cdr/export", **query) == {expected}


async def test_odd_times(rest: Served) -> None:
    """Only ISO 8601 as people write it; the end is not before the beginning."""
    for odd in ODD_TIMES:
        times = {"startTime": odd, "endTime": "2026-11-21T10:00:00Z"}
        assert await rest.faults("GET", "/srmain/cdr", **REQUIRED, **times) == {"startTime"}, odd
    times = {"startTime": "2026-11-21T10:00:01Z", "endTime": "2026-11-21T10:00:00Z"}
    assert await rest.faults("GET", "/srmain/cdr", **REQUIRED, **times) == {"endTime"}


async def test_what_is_required(rest: Served) -> None:
    """It may be empty, and must be there."""
    assert await rest.faults("GET", "/srmain/cdr") == set(REQUIRED)
    assert await rest.faults("POST", "/srmain/cdr/export") == set(REQUIRED)
    missing = await rest.faults("GET", "/srmain/cdr/customer-history")
    assert missing == {"number", "limit", "offset"}
    cursor = {"cursor": "MS4x", "offset": 1}
    assert await rest.faults("GET", "/srmain/cdr", **REQUIRED, **cursor) == {"offset"}


async def test_nobody_is_told_anything(rest: Served) -> None:
    """Without a token there is 401; with another account's, nothing."""
    call = record(1, labels={"clientId": "c-7"})
    await written(rest.parts.database, call)
    for method, path in (
        ("GET", "/srmain/cdr"),
        ("POST", "/srmain/cdr/export"),
        ("GET", "/srmain/cdr/me/today-stats"),
        ("GET", "/srmain/cdr/customer-history"),
        ("GET", f"/srmain/cdr/{call.call_id}"),
        ("GET", "/srmain/cdr/c/getClientIds"),
        ("PATCH", f"/srmain/cdr/{call.call_id}/disposition"),
        ("GET", "/srmain/cdr/exports/x"),
        ("GET", "/srmain/cdr/exports/x/download"),
        ("GET", "/srmain/voice/events"),
    ):
        status, problem = await rest.ask(method, path, "")
        assert (status, problem["detail"]) == (401, "User not authenticated"), path
    one = f"/srmain/cdr/{call.call_id}"
    assert (await rest.ask("GET", one, "other"))[0] == 404
    levels = {"dispositionLevel1Id": "x"}
    assert (await rest.ask("PATCH", f"{one}/disposition", "other", levels))[0] == 404
    assert (await listed(rest, "other"))["total"] == 0
    assert (await rest.ask("GET", "/srmain/cdr/c/getClientIds", "other"))[1]["data"] == []


async def test_client_ids(rest: Served) -> None:
    """By their beginning; even where that is another path's name."""
    ids = ("exports-1", "c-7", "c-8")
    await written(
        rest.parts.database, *(record(n, labels={"clientId": c}) for n, c in enumerate(ids))
    )
    found = await rest.ask("GET", "/srmain/cdr/c-/getClientIds")
    assert found == (200, {"data": ["c-7", "c-8"], "hasMore": False})
    assert (await rest.ask("GET", "/srmain/cdr/exports/getClientIds"))[1]["data"] == ["exports-1"]
    assert await rest.faults("GET", "/srmain/cdr/c%25/getClientIds") == {"prefix"}


async def test_a_customers_history(rest: Served) -> None:
    """Every call in which the number took part, in whichever part."""
    await written(
        rest.parts.database,
        record(1, after_ms=1),
        record(2, after_ms=2, to="+4711111111", dialed_numbers=("+4711111111",), legs=()),
        record(3, after_ms=3, direction="inbound", from_=CUSTOMER, caller_id=CUSTOMER, to="+4799"),
    )
    path = "/srmain/cdr/customer-history"
    status, page = await rest.ask("GET", path, number=CUSTOMER, limit=1, offset=0)
    assert status == 200
    assert (page["data"][0]["reqId"][-1], page["total"]) == ("3", 2)
    _, page = await rest.ask("GET", path, number=CUSTOMER, limit=1, offset=1)
    assert (page["data"][0]["reqId"][-1], page["nextCursor"]) == ("1", None)
    for name, value in (("limit", "-1"), ("offset", "x"), ("number", "%"), ("number", "")):
        query = {"number": CUSTOMER, "limit": 1, "offset": 0, name: value}
        assert await rest.faults("GET", path, **query) == {name}


async def test_an_agents_day(rest: Served) -> None:
    """Since midnight, its own legs; an account's token has no day."""
    await rest.add("acme", "7", name="nina")
    unanswered = leg("agent:7", talked_ms=0, agent_id="7")
    await written(
        rest.parts.database,
        record(1, legs=(NINA,)),
        record(2, legs=(unanswered,), direction="inbound", created_ms=NOON_MS - 43_200_000),
        record(3, legs=(NINA,), created_ms=NOON_MS - 43_200_001),
        record(4, legs=(NINA,), account_id="other"),
    )
    status, day = await rest.ask("GET", "/srmain/cdr/me/today-stats", "nina")
    assert status == 200
    assert day == {
        "agentId": "7",
        "startTime": "2026-11-21T00:00:00.000Z",
        "endTime": "2026-11-21T12:05:00.000Z",
        "total": 2,
        "answered": 1,
        "missed": 1,
        "inbound": 1,
        "outbound": 1,
        "ringMs": 4_000,
        "talkMs": 30_000,
        "holdMs": 0,
        "averageTalkMs": 30_000,
        "longestTalkMs": 30_000,
    }
    status, problem = await rest.ask("GET", "/srmain/cdr/me/today-stats")
    assert (status, problem["code"]) == (400, "agent_required")


async def test_dispositions(rest: Served) -> None:
    """Set one by one, taken out by null; what is bad is named, what is not there is 404."""
    call = record(1)
    await written(rest.parts.database, call)
    path = f"/srmain/cdr/{call.call_id}/disposition"
    await rest.ask("PATCH", path, body={"dispositionLevel1Id": "a", "dispositionLevel2Id": "b"})
    _, shown = await rest.ask("PATCH", path, body={"dispositionLevel1Id": None})
    levels = [shown[f"dispositionLevel{n}Id"] for n in (1, 2, 3)]
    assert levels == [None, "b", None]
    level = "dispositionLevel1Id"
    for body, field in (
        ({level: ""}, level),
        ({level: 7}, level),
        ({level: "50%"}, level),
        ({level: "x" * 129}, level),
        ({}, level),
        ({"level": "x"}, "level"),
    ):
        assert await rest.faults("PATCH", path, body) == {field}
    unknown = "/srmain/cdr/0-pbx1-call99999999/disposition"
    assert (await rest.ask("PATCH", unknown, body={level: "a"}))[0] == 404
    for odd in ("nobody", "%00", "%25", "a" * 5_000):
        assert (await rest.ask("GET", f"/srmain/cdr/{odd}"))[0] == 404
