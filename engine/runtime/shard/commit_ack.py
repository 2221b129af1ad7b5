"""What is asked of calls: why it can't be done, that another engine can, that it is stored."""

import asyncio
import contextlib
from collections.abc import Iterator

from engine.calls.sessions.refusal import Refusal
from engine.runtime.shard.promise import Promise
from engine.runtime.shard.shard import Desk

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


@contextlib.contextmanager
def promised(desk: Desk) -> Iterator[Promise]:
    """Give what is to be waited for after something was asked of a desk."""
    promise = Promise()
    desk.promises.add(promise)
    try:
        yield promise
    finally:
        desk.promises.discard(promise)


async def soon(heard: asyncio.Event) -> None:
    """Give a node that is being looked at, as after a takeover, a moment to be heard again."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(HEARD_WITHIN_S):
            await heard.wait()
