"""Does work under a lease that is renewed meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from api.common.errors import ApiError

T = TypeVar("T")


async def run_with_lease(
    work: Awaitable[T], renew: Callable[[], Awaitable[None]], interval_s: float
) -> T:
    """Return the result of work; raises LeaseLost, and cancels the work, if `renew` does."""

    async def renew_regularly() -> None:
        while True:
            await asyncio.sleep(interval_s)
            with suppress(ApiError):  # the lease is kept if the database returns in time
                await renew()

    working = asyncio.ensure_future(work)
    renewal = asyncio.create_task(renew_regularly())
    try:
        await asyncio.wait((working, renewal), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            renewal.result()  # raises: it ends in no other way
        return working.result()
    finally:
        for task in (working, renewal):
            task.cancel()
        await asyncio.gather(working, renewal, return_exceptions=True)
