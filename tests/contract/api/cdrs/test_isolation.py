"""Call records: isolation of accounts, client ids, statistics of an agent, dispositions."""

from msgspec.structs import replace

from api.cdrs.service import MAX_CLIENTS
from tests.harness.api.cdrs.lists import NINA, list_cdrs
from tests.harness.api.cdrs.records import NOON_MS, leg, record, write_calls
from tests.harness.api.serving import Served


async def test_accounts_are_isolated(served: Served) -> None:
    """A request without a token gets 401; one of another account finds nothing."""
    call = record(1, labels={"clientId": "c-7"})
    await write_calls(served.services.database, call)
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
        status, problem = await served.request(method, path, "")
        assert (status, problem["detail"]) == (401, "User not authenticated"), path
    one = f"/srmain/cdr/{call.call_id}"
    assert (await served.request("GET", one, "other"))[0] == 404
    levels = {"dispositionLevel1Id": "x"}
    assert (await served.request("PATCH", f"{one}/disposition", "other", levels))[0] == 404
    assert (await list_cdrs(served, "other"))["total"] == 0
    assert (await served.request("GET", "/srmain/cdr/c/getClientIds", "other"))[1]["data"] == []


async def test_client_ids(served: Served) -> None:
    """They are found by prefix, even if the prefix is the name of another path."""
    ids = ("exports-1", "c-7", "c-8", "A*1 50%")
    await write_calls(
        served.services.database, *(record(n, labels={"clientId": c}) for n, c in enumerate(ids))
    )
    found = await served.request("GET", "/srmain/cdr/c-/getClientIds")
    assert found == (200, {"data": ["c-7", "c-8"], "hasMore": False})
    assert (await served.request("GET", "/srmain/cdr/exports/getClientIds"))[1]["data"] == [
        "exports-1"
    ]
    found = await served.request("GET", "/srmain/cdr/A*1 5/getClientIds")
    assert found == (200, {"data": ["A*1 50%"], "hasMore": False})
    assert (await served.request("GET", "/srmain/cdr/c%25/getClientIds"))[1]["data"] == []
    assert await served.faults("GET", "/srmain/cdr/c%0A/getClientIds") == {"prefix"}
    for count, has_more in ((MAX_CLIENTS, False), (MAX_CLIENTS + 1, True)):
        called = (record(n, labels={"clientId": f"d-{n:03}"}) for n in range(10, 10 + count))
        await write_calls(served.services.database, *called)
        _, found = await served.request("GET", "/srmain/cdr/d-/getClientIds")
        assert (len(found["data"]), found["hasMore"]) == (MAX_CLIENTS, has_more)


async def test_an_agents_day(served: Served) -> None:
    """The statistics count the agent's own legs since midnight; they need an agent's token."""
    await served.add("acme", "7", name="nina")
    unanswered, short = (leg("agent:7", talked_ms=ms, agent_id="7") for ms in (0, 10_001))
    await write_calls(
        served.services.database,
        record(1, legs=(NINA,)),
        record(2, legs=(unanswered,), direction="inbound", created_ms=NOON_MS - 43_200_000),
        record(3, legs=(NINA,), created_ms=NOON_MS - 43_200_001),
        record(4, legs=(NINA,), account_id="other"),
        record(5, legs=(replace(short, hold_ms=700),)),
    )
    status, day = await served.request("GET", "/srmain/cdr/me/today-stats", "nina")
    assert status == 200
    assert day == {
        "agentId": "7",
        "startTime": "2026-11-21T00:00:00.000Z",
        "endTime": "2026-11-21T12:05:00.000Z",
        "total": 3,
        "answered": 2,
        "missed": 1,
        "inbound": 1,
        "outbound": 2,
        "ringMs": 6_000,
        "talkMs": 40_001,
        "holdMs": 700,
        "averageTalkMs": 20_000,
        "longestTalkMs": 30_000,
    }
    status, problem = await served.request("GET", "/srmain/cdr/me/today-stats")
    assert (status, problem["code"]) == (400, "agent_required")


async def test_dispositions(served: Served) -> None:
    """Each level is set and cleared separately; errors name the level; unknown calls get 404."""
    call = record(1)
    await write_calls(served.services.database, call)
    path = f"/srmain/cdr/{call.call_id}/disposition"
    await served.request(
        "PATCH", path, body={"dispositionLevel1Id": "a", "dispositionLevel2Id": "b"}
    )
    _, shown = await served.request("PATCH", path, body={"dispositionLevel1Id": None})
    levels = [shown[f"dispositionLevel{n}Id"] for n in (1, 2, 3)]
    assert levels == [None, "b", None]
    level = "dispositionLevel1Id"
    for body, field in (
        ({level: 7}, level),
        ({level: "50%"}, level),
        ({level: "x" * 129}, level),
        ({"level": "x"}, "level"),
    ):
        assert await served.faults("PATCH", path, body) == {field}
    unknown = "/srmain/cdr/0-pbx1-call99999999/disposition"
    assert (await served.request("PATCH", unknown, body={level: "a"}))[0] == 404
    for odd in ("nobody", "%00", "%25", "a" * 5_000):
        assert (await served.request("GET", f"/srmain/cdr/{odd}"))[0] == 404
