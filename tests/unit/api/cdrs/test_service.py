"""Pages of call records are made in pieces."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from api.auth.principal import Principal
from api.cdrs.query.pages import CdrRow, CdrRows, Total
from api.cdrs.schemas import CdrListQuery
from api.cdrs.service import CdrService
from api.common.account_concurrency import search_slots
from api.http.paging import PIECE
from tests.harness.api.cdrs.lists import REQUIRED
from tests.harness.api.cdrs.records import record


class Records:
    """A store that has all records in memory, and the account's region."""

    def __init__(self, rows: Sequence[CdrRow]) -> None:
        self.rows = list(rows)

    async def page_and_total(self, *_arguments: Any) -> tuple[CdrRows, Total]:
        return CdrRows(self.rows, has_more=False), Total(len(self.rows), is_exact=True)

    async def region(self, _account_id: str) -> None:
        return None


async def test_others_have_their_turn_while_a_page_is_made() -> None:
    body, turns = msgspec.json.encode(record(1)), 0
    records: Any = Records([CdrRow(1, "a", 1, None, None, None, body)] * 4 * PIECE)
    none: Any = None
    service = CdrService(records, records, none, none, search_slots(), lambda: 1)

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    user = Principal("acme", "key", scopes=frozenset({"cdr"}))
    page = await service.list(user, CdrListQuery(**dict.fromkeys(REQUIRED, "")))
    counting.cancel()
    assert (len(page.data), turns) == (4 * PIECE, 3)
