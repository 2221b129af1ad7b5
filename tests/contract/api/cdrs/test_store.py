"""Call records on both databases: written once, isolated by account."""

import asyncio

from msgspec.structs import replace

from api.cdrs.query.filters import Filters
from api.cdrs.query.pages import CdrRows, Total
from api.cdrs.store import CdrStore
from api.db.database import Database
from tests.harness.api.cdrs.records import (
    AGENTS,
    CUSTOMER,
    NOON_MS,
    find_calls,
    record,
    write_calls,
)


async def test_a_call_is_written_once(database: Database) -> None:
    """Repeated and concurrent writes of a call store it once."""
    call = record(1, legs=AGENTS)
    new = await asyncio.gather(*(write_calls(database, call, record(2)) for _ in range(4)))
    assert sorted(new) == [0, 0, 0, 2]
    assert await find_calls(database) == [2, 1]
    assert [
        each.calls for each in await CdrStore(database).agent_totals("acme", "7", 0, 2 * NOON_MS)
    ] == [1]


async def test_the_end_of_a_time_range_is_not_part_of_it(database: Database) -> None:
    """A call that starts in the millisecond of the end is in the next range."""
    await write_calls(database, record(1, legs=AGENTS))
    cdrs = CdrStore(database)
    assert await cdrs.agent_totals("acme", "7", 0, NOON_MS) == []
    [totals] = await cdrs.agent_totals("acme", "7", NOON_MS, NOON_MS + 1)
    assert totals.calls == 1


async def test_the_newest_come_first(database: Database) -> None:
    """Calls are ordered by start time, then in the order in which they were written."""
    await write_calls(database, record(1, after_ms=5), record(2), record(3), record(4, after_ms=9))
    assert await find_calls(database) == [4, 1, 3, 2]


async def test_accounts_see_only_their_own_calls(database: Database) -> None:
    """With the same numbers, agents and clients, an account sees only its own calls."""
    labels = {"clientId": "c-7"}
    theirs = record(9, account_id="other", legs=AGENTS, labels=labels)
    await write_calls(database, theirs, record(1, labels=labels))
    cdrs = CdrStore(database)
    for filters in ({}, {"client_id": "c-7"}, {"number": CUSTOMER}, {"agent_names": ("Nina",)}):
        rows = (await cdrs.page(Filters("acme", **filters), 10)).rows
        assert [row.req_id for row in rows] == ([] if "agent_names" in filters else [_id(1)])
    assert await cdrs.get("acme", theirs.call_id) is None
    assert await cdrs.timeline("acme", theirs.call_id) == []
    await cdrs.set_dispositions("acme", theirs.call_id, {"disposition1": "sale"})
    row = await cdrs.get("other", theirs.call_id)
    assert row is not None
    assert row.disposition1 is None


async def test_client_ids_by_prefix(database: Database) -> None:
    """Client ids are sorted and unique; prefixes are case-sensitive."""
    ids = ("ab1", "ab2", "AB3", "abc", "ac", "ab2", "äb")
    await write_calls(database, *(record(n, labels={"clientId": c}) for n, c in enumerate(ids)))
    assert await CdrStore(database).clients("acme", "ab", 10) == ["ab1", "ab2", "abc"]
    assert await CdrStore(database).clients("acme", "ab", 2) == ["ab1", "ab2"]
    assert await CdrStore(database).clients("acme", "ä", 2) == ["äb"]
    assert await CdrStore(database).clients("other", "ab", 2) == []


async def test_counting_has_a_limit(database: Database) -> None:
    """Beyond the limit the total is a lower bound."""
    await write_calls(database, *(record(n) for n in range(12)))
    cdrs = CdrStore(database, max_counted=10)
    total = await cdrs.total(Filters("acme"))
    assert (total.count, total.is_exact) == (10, False)
    total = await cdrs.total(Filters("acme", call_path="outbound", is_answered=False))
    assert (total.count, total.is_exact) == (0, False)


async def test_the_total_of_a_page_that_is_not_full(database: Database) -> None:
    """It is exact, also without a match: all records were read, although more than the limit."""
    await write_calls(database, *(record(n) for n in range(12)))
    cdrs = CdrStore(database, max_counted=10)
    missed = Filters("acme", call_path="outbound", is_answered=False)
    assert await cdrs.page_and_total(missed, 5) == (
        CdrRows([], has_more=False),
        Total(0, is_exact=True),
    )
    page, total = await cdrs.page_and_total(Filters("acme"), 5, 10)
    assert (len(page.rows), total) == (2, Total(12, is_exact=True))
    page, total = await cdrs.page_and_total(Filters("acme"), 5, 12)
    assert (page.rows, total) == ([], Total(10, is_exact=False))


async def test_odd_texts_are_cleaned(database: Database) -> None:
    """Labels and agent names are customer text, so they are cleaned and shortened."""
    odd = "x\x00\n" + "y" * 500
    nina = replace(AGENTS[0], agent_name=odd)
    await write_calls(database, record(1, custom_data={"clientId": odd}, legs=(nina,)))
    assert await find_calls(database, client_id="x" + "y" * 255) == [1]
    assert await find_calls(database, agent_names=("x" + "y" * 127,)) == [1]


def _id(number: int) -> str:
    return record(number).call_id
