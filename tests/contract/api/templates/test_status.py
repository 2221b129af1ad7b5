"""Synchronization of template statuses, page by page."""

import pytest
from msgspec import structs

from api.messaging_platform.problems import PlatformUnavailable
from api.messaging_platform.templates import MAX_PAGES, PAGE_ROWS
from tests.harness.api.templates.messaging import BASE, LISTED, Messaging
from tests.harness.customers import msgapp_faults as faults

SYNC = f"{BASE}/sync-status"


async def test_statuses_are_updated(msgapp: Messaging) -> None:
    """They are the platform's words, even unknown ones; the response names missing templates."""
    first, second, deletion = [await msgapp.create(name=name) for name in ("a", "b", "c")]
    msgapp.there.all[first["platformTemplateId"]]["status"] = "IN_A_NEW_STATE"
    msgapp.there.all[second["platformTemplateId"]] |= {
        "status": "REJECTED",
        "rejected_reason": "INVALID_FORMAT",
    }
    del msgapp.there.all[deletion["platformTemplateId"]]
    msgapp.there.put("9", name="theirs_alone")
    wanted = {"checked": 3, "updated": 2, "missing": [deletion["id"]], "unknown": 1}
    assert await msgapp.sync() == wanted
    shown = [await msgapp.get(each["id"]) for each in (first, second, deletion)]
    assert [(each["status"], each["statusReason"]) for each in shown] == [
        ("IN_A_NEW_STATE", "NONE"),
        ("REJECTED", "INVALID_FORMAT"),
        ("PENDING", None),
    ]
    assert await msgapp.sync() == {**wanted, "updated": 0}


async def test_all_pages_are_read(msgapp: Messaging) -> None:
    """Each request has the cursor of the page before, up to the last page."""
    made = await msgapp.create()
    mine = msgapp.there.all.pop(made["platformTemplateId"])
    for number in range(2 * PAGE_ROWS + 1):
        msgapp.there.put(str(number), name=f"t{number}")
    msgapp.there.all[made["platformTemplateId"]] = {**mine, "status": "APPROVED"}
    assert await msgapp.sync() == {
        "checked": 1,
        "updated": 1,
        "missing": [],
        "unknown": 2 * PAGE_ROWS + 1,
    }
    request_body = [
        each.query.get("after") for each in msgapp.platform.requests_to("GET", "/message_templates")
    ]
    assert request_body == [None, f"cursor{PAGE_ROWS}", f"cursor{2 * PAGE_ROWS}"]


async def test_an_error_keeps_earlier_pages(msgapp: Messaging) -> None:
    """The first page is stored when the second fails; a retry does the rest."""
    first = await msgapp.create(name="a")
    for number in range(PAGE_ROWS):
        msgapp.there.put(str(number), name=f"t{number}")
    last = await msgapp.create(name="z")
    for each in (first, last):
        msgapp.there.all[each["platformTemplateId"]]["status"] = "APPROVED"
    msgapp.platform.next_answers(
        faults.passes_through(), faults.rate_limited({"Retry-After": "17"})
    )
    answer = await msgapp.rest.request("POST", SYNC)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "17")
    statuses = [(await msgapp.get(each["id"]))["status"] for each in (first, last)]
    assert statuses == ["APPROVED", "PENDING"]
    assert (await msgapp.sync())["updated"] == 1


@pytest.mark.parametrize(
    ("fault", "status", "code", "wait_s"),
    [
        (faults.rate_limited({"Retry-After": "7"}), 429, "platform_rate_limit", "7"),
        (faults.rate_limited(faults.usage_header(3)), 429, "platform_rate_limit", "180"),
        (faults.rate_limited({"Retry-After": "9" * 20}), 429, "platform_rate_limit", "86400"),
        (faults.rate_limited({"Retry-After": "soon"}), 429, "platform_rate_limit", "60"),
        (faults.rate_limited(faults.usage_header(0)), 429, "platform_rate_limit", "60"),
        (faults.rate_limited(status=400, code=130429), 429, "platform_rate_limit", "60"),
        (faults.rate_limited(status=400, code=4), 429, "platform_rate_limit", "60"),
        (faults.answers(b"slow down", 429), 429, "platform_rate_limit", "60"),
        (faults.fails(500), 503, "platform_down", "5"),
        (faults.fails(400, 2, is_transient=True), 503, "platform_down", "5"),
        (faults.fails(503, 131016), 503, "platform_down", "5"),
        (faults.answers(b"<html>Bad gateway", 502, "text/html"), 503, "platform_down", "5"),
        (faults.answers(b'{"data": [{"id"'), 503, "platform_down", "5"),
        (faults.answers(b'{"data": "x"}'), 503, "platform_down", "5"),
        (faults.answers(b"\xff\xfe"), 503, "platform_down", "5"),
        (faults.answers(b"[" * 100_000), 503, "platform_down", "5"),
        (faults.answers(b""), 503, "platform_down", "5"),
        (faults.answers(b"{}", 400), 503, "platform_down", "5"),
        (faults.oversized(), 503, "platform_down", "5"),
        (faults.redirects("http://127.0.0.1:1/"), 503, "platform_down", "5"),
        (faults.never_answers(), 503, "platform_down", "5"),
        (faults.fails(401, 190), 503, "platform_denied", None),
        (faults.fails(403, 10), 503, "platform_denied", None),
        (faults.fails(403, 200), 503, "platform_denied", None),
        (faults.fails(500, 3), 503, "platform_denied", None),
        (faults.fails(403, 368), 400, "platform_368", None),
        (faults.fails(400, 100), 400, "platform_100", None),
    ],
)
async def test_errors_of_the_platform(
    one: Messaging, fault: faults.Fault, status: int, code: str, wait_s: str | None
) -> None:
    """Each becomes a problem, if possible with Retry-After; none is a 500 or hangs."""
    one.platform.next_answers(fault)
    answer = await one.rest.request("POST", SYNC)
    result = answer.json()
    assert (answer.status_code, result["code"], answer.headers.get("retry-after")) == (
        status,
        code,
        wait_s,
    )
    assert result["detail"]
    assert "token-of" not in answer.text
    assert (await one.rest.request("POST", SYNC)).status_code == 200


async def test_pages_that_never_end(one: Messaging) -> None:
    """A repeated cursor and endless pages are errors."""
    again = faults.answers(b'{"data": [], "paging": {"cursors": {"after": "x"}, "next": "y"}}')
    one.platform.next_answers(again, again)
    assert (await one.rest.rejected("POST", SYNC))[:2] == (503, "platform_down")
    for number in range(MAX_PAGES + 1):
        body = f'{{"data": [], "paging": {{"cursors": {{"after": "{number}"}}, "next": "y"}}}}'
        one.platform.next_answers(faults.answers(body.encode()))
    assert (await one.rest.rejected("POST", SYNC))[:2] == (503, "platform_down")


async def test_pages_that_take_too_long_together(one: Messaging) -> None:
    """The request fails after its total timeout; earlier pages are stored."""
    made = await one.create()
    one.there.all[made["platformTemplateId"]]["status"] = "APPROVED"
    for number in range(PAGE_ROWS):
        one.there.put(str(number), name=f"t{number}")
    one.platform.next_answers(faults.passes_through(), faults.never_answers())
    sync = structs.replace(one.rest.services.templates.sync, max_duration_s=0.5)
    with pytest.raises(PlatformUnavailable, match="longer than"):
        await sync.sync("acme")
    assert (await one.get(made["id"]))["status"] == "APPROVED"


async def test_an_unreachable_platform(one: Messaging) -> None:
    """The template is not stored, as it can't have been created."""
    await one.platform.stop()
    assert (await one.rest.rejected("POST", SYNC))[:2] == (503, "platform_down")
    assert (await one.rejected())[:2] == (503, "platform_down")
    assert (await one.rest.request("GET", LISTED)).json()["total"] == 0
    await one.platform.start()
