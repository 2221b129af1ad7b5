"""An app that goes from one websocket to the next is heard, however close their end and begin are.

Without `engine/ari/subscription_probe.py`, one run in three has a websocket without events.
"""

import asyncio
import random
import time
from functools import partial
from pathlib import Path

from engine.ari.client import AriClient
from engine.ari.generated.events import ChannelUserevent
from engine.ari.generated.operations import events
from tests.harness.pbx.asterisk import Pbx
from tests.harness.until import until
from tests.live.pbx.test_ari import EventRecorder, address, call, client, send

ROUNDS = 400
MAX_OFFSET_S = 0.003  # a handshake takes about as long


async def test_an_app_receives_events_after_each_takeover(tmp_path: Path) -> None:
    """The new one is there at any moment around the old one's end, and hears what is said."""
    chance = random.Random(7)
    async with Pbx(tmp_path / "pbx1", slots=1) as node, client(address(node)) as ari:
        first = EventRecorder()
        old = asyncio.create_task(ari.events("switchroom-0", first).run())
        await until(partial(first.states.__contains__, "back"))
        await send(ari, call("c1"), may_block=True)
        for turn in range(ROUNDS):
            ear = EventRecorder()
            new = asyncio.create_task(ari.events("switchroom-0", ear).run())
            await _wait_precisely(chance.random() * MAX_OFFSET_S)
            old.cancel()
            await until(
                partial(ear.states.__contains__, "back"), every_s=0.002, what=f"change {turn}"
            )
            await _expect_event(ari, ear, f"word-{turn}")
            old = new
        old.cancel()


async def _wait_precisely(span_s: float) -> None:
    """Let a span pass that is shorter than the loop's own timers can tell."""
    due_s = time.perf_counter() + span_s
    while time.perf_counter() < due_s:  # noqa: ASYNC110 - the loop is to turn, and no clock rings
        await asyncio.sleep(0)


async def _expect_event(ari: AriClient, ear: EventRecorder, word: str) -> None:
    await ari.ask(events.user_event(word, application="switchroom-0"))

    def is_heard() -> bool:
        result = [each for each in ear.events if isinstance(each, ChannelUserevent)]
        return [each.eventname for each in result] == [word]

    await until(is_heard, every_s=0.002, what=f"{word} to be heard")
