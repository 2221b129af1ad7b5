"""Connections to bots that are not up yet."""

from contextlib import AsyncExitStack

import pytest

from streams.bots.dialer import MAX_PENDING_PER_HOST, PendingConnections
from streams.bots.errors import BotUnreachable


async def test_a_dead_host_of_one_account_is_open_for_others() -> None:
    """And for its own bots at another port."""
    pending = PendingConnections()
    async with AsyncExitStack() as stack:
        for _ in range(MAX_PENDING_PER_HOST):
            await stack.enter_async_context(pending.one("a", "bot.example", 443))
        with pytest.raises(BotUnreachable):
            await stack.enter_async_context(pending.one("a", "bot.example", 443))
        await stack.enter_async_context(pending.one("b", "bot.example", 443))
        await stack.enter_async_context(pending.one("a", "bot.example", 8443))
    async with pending.one("a", "bot.example", 443):
        pass
