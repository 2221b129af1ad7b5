"""What is asked of calls: why it can't be done, that another engine can, that it is stored."""

import asyncio
import contextlib

from engine.calls.refusals import Refusal
from engine.store.errors import StoreDown

STORED_WITHIN_S = 5
HEARD_WITHIN_S = 1


class Refused(Exception):
    """A request can't be done now; `refusal` says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal


class Elsewhere(Exception):
    """Another engine has the slot that this is about; None: any that has one."""

    def __init__(self, slot: int | None) -> None:
        super().__init__(f"slot {slot} is another engine's")
        self.slot = slot


async def in_time(stored: asyncio.Event, otherwise: str) -> None:
    """Wait until something is stored; raises StoreDown when that takes long."""
    try:
        async with asyncio.timeout(STORED_WITHIN_S):
            await stored.wait()
    except TimeoutError:
        raise StoreDown(otherwise) from None


async def soon(heard: asyncio.Event) -> None:
    """Give a node that is being looked at, as after a takeover, a moment to be heard again."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(HEARD_WITHIN_S):
            await heard.wait()
