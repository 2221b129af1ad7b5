"""Two hundred transfers and conferences on real Asterisk, four at a time; none may end badly.

Every phone has its own tone, and who hears whom is measured after each step.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from itertools import cycle, islice
from time import perf_counter

from tests.bench.figure import Figure, figure
from tests.bench.ivr.stack import stack
from tests.bench.setting import Setting
from tests.harness.live_lab import Lab
from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Conference, Transfer, all_hear_all
from tests.harness.ports import free_port
from tests.harness.servers.engine import RequestError

CONCURRENT_CALLS = 4
log = logging.getLogger(__name__)
Session = Callable[[Parties], Awaitable[None]]


async def sessions(setting: Setting) -> list[Figure]:
    """Run sessions of each kind, and look at what is left."""
    count = 20 if setting.quick else 200
    async with stack(setting.folder) as running:
        lab = Lab(running.valkey, running.pbx, running.engine, free_port())
        began_s = perf_counter()
        turns = islice(cycle(KINDS), count)
        failed = sum(
            await asyncio.gather(*(_run_sessions(lab, turns) for _ in range(CONCURRENT_CALLS)))
        )
        took_s = perf_counter() - began_s
        await lab.wait_empty(timeout_s=30)
    return [
        figure("sessions", "live", count, "sessions"),
        figure("sessions", "failed", failed, "sessions"),
        figure("sessions", "left_behind", 0, "0: none"),
        figure("sessions", "took", took_s, "s"),
    ]


async def _run_sessions(lab: Lab, turns: Iterator[Session]) -> int:
    """Run one session after another; returns how many did not go as they should."""
    failed = 0
    for kind in turns:
        try:
            await _session(lab, kind)
        except (RequestError, TimeoutError) as error:
            log.warning("%s: %s", kind.__name__, error)
            failed += 1
    return failed


async def _session(lab: Lab, kind: Session) -> None:
    async with Parties(lab) as crowd:
        await crowd.connect_from_source()
        await crowd.add_phone("target")
        await kind(crowd)
        await crowd.hang_up()


async def _completed(crowd: Parties) -> None:
    transfer = Transfer(crowd)
    await transfer.start()
    await crowd.expect_audio(source="target", target="source", customer="music")
    await transfer.complete()
    await crowd.expect_audio(customer="target", target="customer")


async def _cancelled(crowd: Parties) -> None:
    transfer = Transfer(crowd)
    await transfer.start()
    await crowd.expect_audio(source="target", target="source", customer="music")
    await transfer.cancel()
    await crowd.expect_audio(customer="source", source="customer")


async def _blind(crowd: Parties) -> None:
    await Transfer(crowd).start("blind")
    await crowd.expect_audio(customer="target", target="customer")


async def _conference(crowd: Parties) -> None:
    await crowd.add_phone("fourth")
    conference = Conference(crowd)
    await conference.add("target")
    await crowd.expect_audio(**all_hear_all("customer", "source", "target"))
    await conference.add("fourth")
    await crowd.expect_audio(**all_hear_all("customer", "source", "target", "fourth"))
    await conference.coach("fourth", "source")
    await crowd.expect_audio(customer="source target", source="customer target fourth")
    await crowd.control("hold", channelId=await crowd.leg("customer"))
    await crowd.expect_audio(customer="music")
    await crowd.control("unhold", channelId=await crowd.leg("customer"))
    await conference.kick("target")
    await crowd.expect_audio(customer="source", source="customer fourth")


KINDS: tuple[Session, ...] = (_completed, _cancelled, _blind, _conference)
