"""Statuses of templates: asked for page by page, and told by the platform itself."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from api.platform.problems import PlatformDown
from api.platform.templates import MOST_PAGES, PAGE_ROWS
from tests.contract.api.databases import sqlite_url
from tests.contract.api.hand import Hand
from tests.contract.api.messaging import BASE, LISTED, Messaging, messaging
from tests.contract.rpc_bench import Bench
from tests.harness import msgapp_faults as faults
from tests.harness.msgapp_names import SECRET, VERIFY, notice, signed

HOOK = "/srmain/msgapp-webhook"
SYNC = f"{BASE}/sync-status"


@pytest.fixture
def clock() -> Hand:
    """Give a clock that a test moves."""
    return Hand()


@pytest.fixture
async def house(database_url: str, bench: Bench, clock: Hand) -> AsyncIterator[Messaging]:
    """Give the layer over either kind of database."""
    async with messaging(database_url, bench, clock, timeout_s=1) as made:
        yield made


@pytest.fixture
async def one(tmp_path: Path, bench: Bench) -> AsyncIterator[Messaging]:
    """Give the layer over SQLite, for what is not about databases."""
    async with messaging(sqlite_url(tmp_path), bench, timeout_s=1) as made:
        yield made


async def told(house: Messaging, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
    """Tell as the platform does; give status and answer."""
    answer = await house.rest.client.post(HOOK, content=body, headers=headers)
    return answer.status_code, answer.json()


async def test_statuses_are_brought_up_to_date(house: Messaging) -> None:
    """Word for word, also one that nobody has heard of; what is not there is named."""
    first, second, gone = [await house.create(name=name) for name in ("a", "b", "c")]
    house.there.all[first["platformTemplateId"]]["status"] = "IN_A_NEW_STATE"
    house.there.all[second["platformTemplateId"]] |= {
        "status": "REJECTED",
        "rejected_reason": "INVALID_FORMAT",
    }
    del house.there.all[gone["platformTemplateId"]]
    house.there.put("9", name="theirs_alone")
    wanted = {"checked": 3, "updated": 2, "missing": [gone["id"]], "unknown": 1}
    assert await house.sync() == wanted
    shown = [await house.get(each["id"]) for each in (first, second, gone)]
    assert [(each["status"], each["statusReason"]) for each in shown] == [
        ("IN_A_NEW_STATE", "NONE"),
        ("REJECTED", "INVALID_FORMAT"),
        ("PENDING", None),
    ]
    assert await house.sync() == {**wanted, "updated": 0}


async def test_all_pages_are_read(house: Messaging) -> None:
    """By the cursor of each, to the last; on which of them a template is does not matter."""
    made = await house.create()
    mine = house.there.all.pop(made["platformTemplateId"])
    for number in range(2 * PAGE_ROWS + 1):
        house.there.put(str(number), name=f"t{number}")
    house.there.all[made["platformTemplateId"]] = {**mine, "status": "APPROVED"}
    assert await house.sync() == {
        "checked": 1,
        "updated": 1,
        "missing": [],
        "unknown": 2 * PAGE_ROWS + 1,
    }
    asked = [each.query.get("after") for each in house.platform.of("GET", "/message_templates")]
    assert asked == [None, f"cursor{PAGE_ROWS}", f"cursor{2 * PAGE_ROWS}"]


async def test_a_fault_on_the_way_takes_nothing_back(house: Messaging) -> None:
    """The first page is noted when the second is refused; the next try does the rest."""
    first = await house.create(name="a")
    for number in range(PAGE_ROWS):
        house.there.put(str(number), name=f"t{number}")
    last = await house.create(name="z")
    for each in (first, last):
        house.there.all[each["platformTemplateId"]]["status"] = "APPROVED"
    house.platform.next_answers(faults.passed(), faults.limited({"Retry-After": "17"}))
    answer = await house.rest.ask("POST", SYNC)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "17")
    statuses = [(await house.get(each["id"]))["status"] for each in (first, last)]
    assert statuses == ["APPROVED", "PENDING"]
    assert (await house.sync())["updated"] == 1


@pytest.mark.parametrize(
    ("fault", "status", "code", "wait_s"),
    [
        (faults.limited({"Retry-After": "7"}), 429, "platform_rate_limit", "7"),
        (faults.limited(faults.usage(3)), 429, "platform_rate_limit", "180"),
        (faults.limited({"Retry-After": "9" * 20}), 429, "platform_rate_limit", "86400"),
        (faults.limited({"Retry-After": "soon"}), 429, "platform_rate_limit", "60"),
        (faults.limited(faults.usage(0)), 429, "platform_rate_limit", "60"),
        (faults.limited(status=400, code=130429), 429, "platform_rate_limit", "60"),
        (faults.limited(status=400, code=4), 429, "platform_rate_limit", "60"),
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
        (faults.huge(), 503, "platform_down", "5"),
        (faults.elsewhere("http://127.0.0.1:1/"), 503, "platform_down", "5"),
        (faults.silent(), 503, "platform_down", "5"),
        (faults.fails(401, 190), 503, "platform_denied", None),
        (faults.fails(403, 10), 503, "platform_denied", None),
        (faults.fails(403, 200), 503, "platform_denied", None),
        (faults.fails(500, 3), 503, "platform_denied", None),
        (faults.fails(403, 368), 400, "platform_368", None),
        (faults.fails(400, 100), 400, "platform_100", None),
    ],
)
async def test_its_faults_are_told_as_ours(
    one: Messaging, fault: faults.Fault, status: int, code: str, wait_s: str | None
) -> None:
    """Each as a problem, with how long to wait where that helps; never a 500, never a hang."""
    one.platform.next_answers(fault)
    answer = await one.rest.ask("POST", SYNC)
    told = answer.json()
    assert (answer.status_code, told["code"], answer.headers.get("retry-after")) == (
        status,
        code,
        wait_s,
    )
    assert told["detail"]
    assert "token-of" not in answer.text
    assert (await one.rest.ask("POST", SYNC)).status_code == 200


async def test_pages_that_never_end(one: Messaging) -> None:
    """A cursor that comes again, and one page after another for ever: both are given up."""
    again = faults.answers(b'{"data": [], "paging": {"cursors": {"after": "x"}, "next": "y"}}')
    one.platform.next_answers(again, again)
    assert (await one.rest.refused("POST", SYNC))[:2] == (503, "platform_down")
    for number in range(MOST_PAGES + 1):
        body = f'{{"data": [], "paging": {{"cursors": {{"after": "{number}"}}, "next": "y"}}}}'
        one.platform.next_answers(faults.answers(body.encode()))
    assert (await one.rest.refused("POST", SYNC))[:2] == (503, "platform_down")


async def test_pages_that_take_too_long_together(one: Messaging) -> None:
    """Each within its time, but all of them not: given up with what was noted."""
    made = await one.create()
    one.there.all[made["platformTemplateId"]]["status"] = "APPROVED"
    for number in range(PAGE_ROWS):
        one.there.put(str(number), name=f"t{number}")
    one.platform.next_answers(faults.passed(), faults.silent())
    sync = structs.replace(one.rest.parts.templates.sync, longest_s=0.5)
    with pytest.raises(PlatformDown, match="longer than"):
        await sync.sync("acme")
    assert (await one.get(made["id"]))["status"] == "APPROVED"


async def test_nobody_is_there(one: Messaging) -> None:
    """A platform that can't be reached is told as such; it was not asked, so nothing is kept."""
    await one.platform.stop()
    assert (await one.rest.refused("POST", SYNC))[:2] == (503, "platform_down")
    assert (await one.refused())[:2] == (503, "platform_down")
    assert (await one.rest.ask("GET", LISTED)).json()["total"] == 0
    await one.platform.start()


async def test_the_platform_tells_at_once(house: Messaging, clock: Hand) -> None:
    """Its event is the status, its reason the reason; told again it is the same."""
    made = await house.create()
    key = made["platformTemplateId"]
    for event, reason in (("APPROVED", "NONE"), ("PAUSED", None), ("A_NEW_ONE", "BECAUSE")):
        body, headers = notice("acme", key, event, at_s=7, reason=reason)
        assert await told(house, body, headers) == (200, {"noted": 1})
        assert await told(house, body, headers) == (200, {"noted": 1})
        shown = await house.get(made["id"])
        assert (shown["status"], shown["statusReason"]) == (event, reason)


async def test_what_is_told_late_is_old(house: Messaging) -> None:
    """Of two the platform's later one counts, in whichever order they come."""
    made = await house.create()
    key = made["platformTemplateId"]
    assert await told(house, *notice("acme", key, "REJECTED", at_s=20)) == (200, {"noted": 1})
    assert await told(house, *notice("acme", key, "APPROVED", at_s=10)) == (200, {"noted": 0})
    assert (await house.get(made["id"]))["status"] == "REJECTED"


async def test_what_is_told_while_we_ask_is_newer(house: Messaging, clock: Hand) -> None:
    """A page that was on its way does not take back what was told meanwhile."""
    made = await house.create()
    key = made["platformTemplateId"]
    clock.now += 10
    held, let_go = faults.held()
    house.there.all[key]["status"] = "IN_APPEAL"
    house.platform.next_answers(held)
    syncing = asyncio.create_task(house.sync())
    await house.platform.asked("GET", "/message_templates")
    clock.now += 10
    assert await told(house, *notice("acme", key, "APPROVED")) == (200, {"noted": 1})
    let_go()
    assert (await syncing)["updated"] == 0
    assert (await house.get(made["id"]))["status"] == "APPROVED"
    clock.now += 10
    assert (await house.sync())["updated"] == 1


async def test_only_of_the_business_accounts_own(house: Messaging) -> None:
    """Another business account's notice, an unknown template or other news change nothing."""
    made = await house.create()
    key = made["platformTemplateId"]
    assert await told(house, *notice("other", key, "REJECTED")) == (200, {"noted": 0})
    assert await told(house, *notice("nobody", key, "REJECTED")) == (200, {"noted": 0})
    unknown = notice("acme", "1", "REJECTED", message_template_name="x")
    assert await told(house, *unknown) == (200, {"noted": 0})
    assert (await house.get(made["id"]))["status"] == "PENDING"


async def test_a_notice_settles_what_was_not_answered(house: Messaging) -> None:
    """A template whose making was never heard of is known by its name and language."""
    house.platform.next_answers(faults.done_but(faults.fails(500)))
    await house.refused()
    (key,) = house.there.all
    assert await told(house, *notice("acme", key, "APPROVED")) == (200, {"noted": 1})
    (kept,) = (await house.rest.ask("GET", LISTED)).json()["data"]
    assert (kept["status"], kept["platformTemplateId"]) == ("APPROVED", key)


async def test_one_bad_change_does_not_hold_up_the_others(house: Messaging) -> None:
    """Several entries and changes at once; what is not understood is left out."""
    made = await house.create()
    good = {
        "event": "APPROVED",
        "message_template_id": int(made["platformTemplateId"]),
        "message_template_name": "hello",
        "message_template_language": "en-US",
        "reason": "NONE",
    }
    field = "message_template_status_update"
    changes = [
        {"field": "messages", "value": {"messages": [{"text": {"body": "hi"}}]}},
        {"field": field},
        {"field": field, "value": {"event": 7}},
        {"field": field, "value": {**good, "reason": "a\0b"}},
        {"field": field, "value": good},
    ]
    entries = [{"id": "0", "changes": []}, {"id": "business-acme", "time": 1, "changes": changes}]
    body, headers = signed({"object": "business_account", "entry": entries})
    assert await told(house, body, headers) == (200, {"noted": 1})


async def test_only_the_platform_is_believed(one: Messaging) -> None:
    """A signature that is missing, another's, or another body's: 401, and nothing is read."""
    made = await one.create()
    body, headers = notice("acme", made["platformTemplateId"], "APPROVED")
    name = "X-Hub-Signature-256"
    digest = headers[name]
    for given in (
        {},
        {name: ""},
        {name: digest.removeprefix("sha256=")},
        {name: digest.upper()},
        {name: digest[:-1]},
        {name: f"sha1={digest[7:]}"},
        signed([], "another-secret")[1],
    ):
        status, answer = await told(one, body, given)
        assert (status, answer["code"]) == (401, "bad_signature")
    assert (await told(one, body + b" ", headers))[0] == 401
    assert (await one.get(made["id"]))["status"] == "PENDING"


async def test_a_signed_notice_that_is_none(one: Messaging) -> None:
    """400, whatever it is; three megabytes are taken, more are not."""
    late = {"entry": [{"id": "business-acme", "time": 2**63}]}
    bad: tuple[Any, ...] = ([], {}, {"entry": 7}, {"entry": [{"id": 7}]}, "x", late)
    for what in bad:
        status, _answer = await told(one, *signed(what))
        assert status == 400, what
    padding = {"object": "x" * 3_000_000, "entry": []}
    assert await told(one, *signed(padding)) == (200, {"noted": 0})
    assert (await told(one, *signed({**padding, "more": "x" * 200_000})))[0] == 413


async def test_the_challenge_is_given_back(one: Messaging) -> None:
    """To who knows the verify token, as plain text."""
    query = {"hub.mode": "subscribe", "hub.verify_token": VERIFY, "hub.challenge": "1158201444"}
    answer = await one.rest.client.get(HOOK, params=query)
    assert (answer.status_code, answer.text) == (200, "1158201444")
    assert answer.headers["content-type"].startswith("text/plain")
    for change in ({"hub.verify_token": SECRET}, {"hub.mode": "unsubscribe"}):
        refused = await one.rest.refused("GET", HOOK, params={**query, **change})
        assert refused[:2] == (401, "bad_verify_token")
    del query["hub.challenge"]
    assert (await one.rest.refused("GET", HOOK, params=query))[0] == 400


async def test_without_a_secret_there_is_no_webhook(rest: Any) -> None:
    """Where nothing is set up, nobody is believed."""
    query = {"hub.mode": "subscribe", "hub.verify_token": "", "hub.challenge": "x"}
    assert (await rest.refused("GET", HOOK, params=query))[0] == 404
    assert (await rest.refused("POST", HOOK, b"{}"))[0] == 404
