"""`/srmain/account/usage`: sums of each day, which are those of the records."""

from datetime import date

import pytest

from api.account_pages.schemas import EPOCH
from api.accounts.usage import DAY_MS, Usage, UsageStore, add_usage
from tests.harness.api.cdrs.records import NOON_MS, missed, record, write_calls
from tests.harness.api.rest import Rest

USAGE = "/srmain/account/usage"
MONTH = {"startDate": "2026-11-01", "endDate": "2026-11-30"}


async def test_usage_is_summed_by_day(kept: Rest) -> None:
    """Calls count once, however often they are delivered; the other account has none of them."""
    ended = [record(1), missed(2), record(3, after_ms=DAY_MS)]
    for _delivery in range(2):
        await write_calls(kept.services.database, *ended)
    await UsageStore(kept.services.database, lambda: NOON_MS).add_message("acme")
    page = (await kept.request("GET", USAGE, params=MONTH)).json()
    first, second = page["data"]
    assert (first["date"], second["date"]) == ("2026-11-21", "2026-11-22")
    assert (first["calls"], first["answeredCalls"], first["messages"]) == (2, 1, 1)
    assert (second["calls"], second["legs"]) == (1, len(ended[2].legs))
    talk_ms = sum(leg.talk_ms + leg.hold_ms for each in ended for leg in each.legs)
    total = page["total"]
    assert total.pop("minutes") == pytest.approx(talk_ms / 60_000, abs=0.02)
    legs = sum(len(each.legs) for each in ended)
    assert total == {"calls": 3, "answeredCalls": 2, "legs": legs, "messages": 1}
    other = await kept.token_of("other", "other")
    assert (await kept.request("GET", USAGE, token=other, params=MONTH)).json()["data"] == []


@pytest.mark.parametrize(
    "query",
    [
        {"startDate": "2026-11-30", "endDate": "2026-11-01"},
        {"startDate": "2025-11-28", "endDate": "2026-11-30"},
        {"startDate": "yesterday"},
        {"day": "2026-11-01"},
    ],
)
async def test_bad_days(rest: Rest, query: dict[str, str]) -> None:
    """Days that are none, are in the wrong order, or are more than a year."""
    assert (await rest.rejected("GET", USAGE, params=query))[:2] == (400, "invalid")


async def test_which_days_are_shown(rest: Rest) -> None:
    """Of a month, unless the first day is given; a year and a day at most."""
    last = (date(2026, 11, 30) - EPOCH).days
    async with rest.services.database.writing() as connection:
        await add_usage(connection, [Usage("acme", last - ago) for ago in (0, 30, 31, 366)])

    async def shown(**query: str) -> list[str]:
        answer = await rest.request("GET", USAGE, params=query)
        return [each["date"] for each in answer.json()["data"]]

    month, year = ["2026-10-31", "2026-11-30"], ["2025-11-29", "2026-10-30"]
    assert await shown(endDate="2026-11-30") == month
    assert await shown(startDate="2025-11-29", endDate="2026-11-30") == [*year, *month]
    assert await shown(startDate="2026-11-30", endDate="2026-11-30") == month[1:]
    page = (await rest.request("GET", USAGE)).json()
    assert page["total"]["calls"] == 0
