"""`/srmain/cdr` over HTTP on both databases: pages, filters, views."""

from typing import Any

import pytest
from msgspec.structs import replace

from api.cdrs.event_writer import write_events
from tests.harness.api.cdrs.lists import NINA, REQUIRED, list_cdrs
from tests.harness.api.cdrs.records import (
    CUSTOMER,
    NOON_MS,
    decoded_events,
    leg,
    missed,
    record,
    recording,
    write_calls,
)
from tests.harness.api.serving import Served
from wire.events.record import StreamRecord
from wire.party import Diversion

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


async def test_a_record_is_shown_completely(served: Served) -> None:
    """A record has times, parties, recordings and dispositions; by id it has its timeline, too."""
    call = record(
        1,
        legs=(leg(CUSTOMER), NINA),
        labels={"clientId": "c-7", "obdType": "survey"},
        recordings=(recording("call"),),
        answered_by="machine",
        custom_data={"order": 7},
    )
    await write_calls(served.services.database, call)
    (shown,) = (await list_cdrs(served))["data"]
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
    status, whole = await served.request("GET", f"/srmain/cdr/{call.call_id}")
    assert status == 200
    timeline = whole.pop("timeline")
    assert whole == shown
    assert [each["event"] for each in timeline] == ["initiated", "answered", "completed"]
    assert [each["sequenceNumber"] for each in timeline] == [0, 1, 2]


async def test_privacy_and_diversion_are_shown(served: Served) -> None:
    """Whether the caller withheld the number, and which numbers forwarded the call."""
    diversion = (Diversion("+4711111111", "no-answer"), Diversion("+4722222222", privacy=True))
    call = record(1, privacy=True, diversion=diversion)
    await write_calls(served.services.database, call, record(2, after_ms=-1))
    shown, other = (await list_cdrs(served))["data"]
    assert shown["privacy"] is True
    assert shown["diversion"] == [
        {"number": "+4711111111", "reason": "no-answer"},
        {"number": "+4722222222", "privacy": True},
    ]
    assert not other.keys() & {"privacy", "diversion"}


async def test_streams_are_shown(served: Served) -> None:
    """With their bots and turns; calls without streams omit them."""
    talked = StreamRecord(
        stream_id="0-pbx1-call00000001.w2",
        protocol="twilio",
        host="bot.example.com",
        started_ms=NOON_MS + 2_000,
        ended_ms=NOON_MS + 32_000,
        heard_ms=20_000,
        reason="bot-closed",
        turns=4,
        max_latency_ms=900,
    )
    await write_calls(served.services.database, record(1, streams=(talked,)), record(2))
    (without, with_stream) = (await list_cdrs(served))["data"]
    assert "streams" not in without
    assert with_stream["streams"] == [
        {
            "streamId": "0-pbx1-call00000001.w2",
            "protocol": "twilio",
            "host": "bot.example.com",
            "startedMs": NOON_MS + 2_000,
            "endedMs": NOON_MS + 32_000,
            "heardMs": 20_000,
            "reason": "bot-closed",
            "turns": 4,
            "maxLatencyMs": 900,
        }
    ]


async def test_pages_and_totals(served: Served) -> None:
    """A page has ten records by default, by offset or cursor; the total is exact up to a limit."""
    await write_calls(served.services.database, *(record(n, after_ms=n) for n in range(25)))
    first = await list_cdrs(served)
    assert (len(first["data"]), first["total"], first["totalIsExact"]) == (10, 25, True)
    assert (first["limit"], first["offset"]) == (10, 0)
    second = await list_cdrs(served, offset=10)
    assert await list_cdrs(served, cursor=first["nextCursor"]) == {**second, "offset": 0}
    last = await list_cdrs(served, offset=20)
    assert (len(last["data"]), last["total"], last["nextCursor"]) == (5, 25, None)
    beyond = await list_cdrs(served, offset=30)
    assert (beyond["data"], beyond["total"]) == ([], 25)


async def test_filters_as_the_specification_names_them(served: Served) -> None:
    """Each filter finds its calls; an empty one matches any call."""
    labels = {"clientId": "c-7", "obdType": "survey"}
    dialed = (CUSTOMER, "+4755555555")
    await write_calls(
        served.services.database,
        record(1, after_ms=1_000, legs=(NINA,), labels=labels, dialed_numbers=dialed),
        record(2, after_ms=2_000, caller_id="+4733333333", recordings=(recording("voicemail"),)),
        missed(3, after_ms=3_000, direction="inbound"),
    )
    path = "/srmain/cdr/0-pbx1-call00000001/disposition"
    status, shown = await served.request("PATCH", path, body={"dispositionLevel1Id": "sale"})
    assert (status, shown["dispositionLevel1Id"]) == (200, "sale")
    for query, numbers in FOUND:
        found = await list_cdrs(served, **query)
        assert [int(each["reqId"][-8:]) for each in found["data"]] == numbers, query


async def test_what_is_stored_is_found_by_itself(served: Served) -> None:
    """Also a name with a comma, and texts with what are wildcards elsewhere."""
    names = ("Berg, Nina", "Nina?", " Per")
    text = r"A*1 50% \x"
    labels = {"clientId": text, "obdType": text}
    await write_calls(
        served.services.database,
        *(
            record(n, after_ms=n, legs=(leg("agent:7", agent_id="7", agent_name=name),))
            for n, name in enumerate(names)
        ),
        record(9, labels=labels),
    )
    wanted = [*((n, {"agentName": name}) for n, name in enumerate(names))]
    wanted += [(9, {name: value}) for name, value in labels.items()]
    for number, query in wanted:
        found = await list_cdrs(served, **query)
        assert [int(each["reqId"][-8:]) for each in found["data"]] == [number], query
    several = await list_cdrs(served, agentName="Nina?, Berg")
    assert [int(each["reqId"][-8:]) for each in several["data"]] == [1]


async def test_a_customers_history(served: Served) -> None:
    """The history has every call in which the number was any of the parties."""
    await write_calls(
        served.services.database,
        record(1, after_ms=1),
        record(2, after_ms=2, to="+4711111111", dialed_numbers=("+4711111111",), legs=()),
        record(3, after_ms=3, direction="inbound", from_=CUSTOMER, caller_id=CUSTOMER, to="+4799"),
    )
    path = "/srmain/cdr/customer-history"
    status, page = await served.request("GET", path, number=CUSTOMER, limit=1, offset=0)
    assert status == 200
    assert (page["data"][0]["reqId"][-1], page["total"]) == ("3", 2)
    _, page = await served.request("GET", path, number=CUSTOMER, limit=1, offset=1)
    assert (page["data"][0]["reqId"][-1], page["nextCursor"]) == ("1", None)
    for name, value in (("limit", "-1"), ("offset", "x"), ("number", "%"), ("number", "")):
        query = {"number": CUSTOMER, "limit": 1, "offset": 0, name: value}
        assert await served.faults("GET", path, **query) == {name}


async def test_history_continues_with_its_cursor(served: Served) -> None:
    """`nextCursor` is accepted, and leads to the last page."""
    await write_calls(served.services.database, *(record(n, after_ms=n) for n in (1, 2, 3)))
    query: dict[str, Any] = {"number": CUSTOMER, "limit": 1, "offset": 0}
    found = []
    while True:
        status, page = await served.request("GET", "/srmain/cdr/customer-history", **query)
        assert status == 200, page
        found += [each["reqId"][-1] for each in page["data"]]
        if page["nextCursor"] is None:
            break
        query["cursor"] = page["nextCursor"]
    assert found == ["3", "2", "1"]


@pytest.mark.parametrize("name", ["callerId", "toNumber", "dialedNumber"])
async def test_numbers_are_found_in_any_form(served: Served, name: str) -> None:
    """However the carrier or the client writes them, with the account's region."""
    accounts, database = served.services.accounts, served.services.database
    account = await accounts.get("acme")
    await accounts.change(replace(account, region="NO"))
    forms = ("+4722222222", "4722222222", "004722222222", "22222222")
    calls = [
        record(n, after_ms=n, to=form, caller_id=form, dialed_numbers=(form,), legs=())
        for n, form in enumerate(forms, 1)
    ]
    async with database.writing() as connection:
        await write_events(connection, decoded_events(*calls), {"acme": "NO"})
    for form in (*forms, "22 22 22 22"):
        _, page = await served.request("GET", "/srmain/cdr", **{**REQUIRED, name: form})
        assert (page["total"], len(page["data"])) == (4, 4), form
    history: dict[str, Any] = {"number": "22222222", "limit": 9, "offset": 0}
    _, page = await served.request("GET", "/srmain/cdr/customer-history", **history)
    assert page["total"] == 4
    path = f"/srmain/cdr/{calls[3].call_id}/disposition"
    await served.request("PATCH", path, body={"dispositionLevel1Id": "sale"})
    query = {**REQUIRED, "dialedNumber": "22222222", "dispositionLevel1Id": "sale"}
    _, page = await served.request("GET", "/srmain/cdr", **query)
    assert [each["toNumber"] for each in page["data"]] == ["22222222"]
