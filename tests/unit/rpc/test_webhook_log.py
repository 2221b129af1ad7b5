"""Searches of the webhook log leave the event loop to calls, and take turns."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp.test_utils import make_mocked_request

from engine.rpc.handlers.webhook_log import (
    PAGE_SIZE,
    PIECE,
    SEARCHES_AT_ONCE,
    WebhookLogHandlers,
    WebhookSearches,
)
from engine.rpc.problems import LimitReached
from engine.store.webhook_log import StoredAttempt
from tests.harness.until import until

PAGES = 5


class Log:
    """A log that answers at once."""

    def __init__(self) -> None:
        self.pages = PAGES

    async def read_before(self, _account: str, _before: str, limit: int) -> Sequence[StoredAttempt]:
        self.pages -= 1
        return [StoredAttempt("1-0", b"?")] * limit if self.pages >= 0 else []


async def test_calls_have_their_turn_during_a_search() -> None:
    """After every few attempts that it reads."""
    turns = 0
    log: Any = Log()
    unused: Any = None
    handlers = WebhookLogHandlers(log, unused)

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    match: Any = {"account": "acme"}
    listed = await handlers.list(make_mocked_request("GET", "/webhooks/acme", match_info=match))
    counting.cancel()
    assert listed.attempts == ()
    assert turns == PAGES * PAGE_SIZE // PIECE


async def test_searches_wait_for_one_another() -> None:
    """One of an account is in progress at a time; with too many it gets 429, and others do not."""
    searches, entered, go_on = WebhookSearches(4, 2), list[str](), asyncio.Event()

    async def search(account: str) -> None:
        async with searches.turn(account):
            entered.append(account)
            await go_on.wait()

    running = [asyncio.create_task(search(each)) for each in ("a", "a", "b", "b")]
    await until(lambda: len(entered) == SEARCHES_AT_ONCE)
    assert sorted(entered) == ["a", "b"]
    for account in ("a", "c"):  # one account's, and all
        with pytest.raises(LimitReached):
            await search(account)
    go_on.set()
    await asyncio.gather(*running)
    await search("c")
