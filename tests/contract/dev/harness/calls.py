"""Calls of the lab's phone that tests begin."""

import asyncio
from contextlib import suppress

from dev.phone.caller import Dialed, Pressed, place_call
from tests.harness.until import until

NOTHING = Pressed("", 0)


async def give_up_when_it_rings(port: int) -> None:
    """Call a port, and cancel the call as soon as it rings."""
    course: list[str] = []
    dialed = Dialed("127.0.0.1", port, "+1", "+2")
    calling = asyncio.create_task(place_call(dialed, NOTHING, course.append))
    await until(lambda: course[-1:] == ["ringing"], what="it to ring")
    calling.cancel()
    with suppress(asyncio.CancelledError):
        await calling
