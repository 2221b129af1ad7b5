"""A Stasis app that moves to another websocket receives events, however close the two overlap.

Without `engine/ari/events.py`, one run in three has a websocket without events.
"""

import asyncio
import random
import time
from functools import partial
from pathlib import Path

import pytest

from engine.ari.client import AriClient
from engine.ari.generated.events import ChannelUserevent
from engine.ari.generated.operations import events
from tests.harness.pbx.asterisk import Pbx
from tests.harness.until import until
from tests.live.pbx.test_ari import EventRecorder, address, call, client, send

ROUNDS = 400
MAX_OFFSET_S = 0.003  # a handshake takes about as long


@pytest.mark.timeout(600)  # 400 changes, on a busy machine
async def test_an_app_receives_events_after_each_takeover(tmp_path: Path) -> None:
    """The new websocket opens at any time around the end of the old one, and receives events."""
    chance = random.Random(7)
    async with Pbx(tmp_path / "pbx1", slots=1) as node, client(address(node)) as ari:
        first = EventRecorder()
        old = asyncio.create_task(ari.events("switchroom-0", first).run())
        await until(partial(first.states.__contains__, "back"))
        await send(ari, call("c1"), may_block=True)
        for round_number in range(ROUNDS):
            recorder = EventRecorder()
            new = asyncio.create_task(ari.events("switchroom-0", recorder).run())
            await _wait_precisely(chance.random() * MAX_OFFSET_S)
            old.cancel()
            await until(
                partial(recorder.states.__contains__, "back"),
                every_s=0.002,
                what=f"change {round_number}",
            )
            await _expect_event(ari, recorder, f"event-{round_number}")
            old = new
        old.cancel()


async def _wait_precisely(span_s: float) -> None:
    """Wait for a span that is shorter than the resolution of the loop's timers."""
    due_s = time.perf_counter() + span_s
    while time.perf_counter() < due_s:  # noqa: ASYNC110 - the loop must run, and timers are too coarse
        await asyncio.sleep(0)


async def _expect_event(ari: AriClient, recorder: EventRecorder, name: str) -> None:
    await ari.ask(events.user_event(name, application="switchroom-0"))

    def is_heard() -> bool:
        events_seen = [each for each in recorder.events if isinstance(each, ChannelUserevent)]
        return [each.eventname for each in events_seen] == [name]

    await until(is_heard, every_s=0.002, what=f"event {name}")
