"""Searches that run at once: the first result counts."""

import asyncio
from collections.abc import Awaitable

from base.tasks import first_found


async def test_the_first_result_counts() -> None:
    """The searches that have not ended by then are cancelled."""
    cancelled = asyncio.Event()

    async def find(what: str | None) -> str | None:
        return what

    async def hang() -> str | None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return None

    assert await first_found([find(None), hang(), find("here")]) == "here"
    assert cancelled.is_set()


async def test_nothing_is_found() -> None:
    """After all searches have ended, or without any."""

    async def find() -> str | None:
        return None

    searches: list[Awaitable[str | None]] = [find(), find()]
    assert await first_found(searches) is None
    searches.clear()
    assert await first_found(searches) is None
