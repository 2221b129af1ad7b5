"""200 transfers and conferences on real Asterisk, four at a time; none may fail.

Each phone has its own tone, and who hears whom is checked after each step.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from itertools import cycle, islice
from time import perf_counter

from tests.harness.live_lab import Lab
from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Conference, Transfer, all_hear_all
from tests.harness.ports import free_port
from tests.harness.servers.engine import RequestError
from tools.bench.figure import Figure, figure
from tools.bench.ivr.stack import stack
from tools.bench.setting import Setting

CONCURRENT_CALLS = 4
log = logging.getLogger(__name__)
Session = Callable[[Parties], Awaitable[None]]


async def sessions(setting: Setting) -> list[Figure]:
    """Run sessions of each kind, and check that nothing is left."""
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
    """Run one session after another; returns the number of failures."""
    failed = 0
    for kind in turns:
        try:
            await _session(lab, kind)
        except (RequestError, TimeoutError) as error:
            log.warning("%s: %s", kind.__name__, error)
            failed += 1
    return failed


async def _session(lab: Lab, kind: Session) -> None:
    async with Parties(lab) as parties:
        await parties.connect_from_source()
        await parties.add_phone("target")
        await kind(parties)
        await parties.hang_up()


async def _completed(parties: Parties) -> None:
    transfer = Transfer(parties)
    await transfer.start()
    await parties.expect_audio(source="target", target="source", customer="music")
    await transfer.complete()
    await parties.expect_audio(customer="target", target="customer")


async def _cancelled(parties: Parties) -> None:
    transfer = Transfer(parties)
    await transfer.start()
    await parties.expect_audio(source="target", target="source", customer="music")
    await transfer.cancel()
    await parties.expect_audio(customer="source", source="customer")


async def _blind(parties: Parties) -> None:
    await Transfer(parties).start("blind")
    await parties.expect_audio(customer="target", target="customer")


async def _conference(parties: Parties) -> None:
    await parties.add_phone("fourth")
    conference = Conference(parties)
    await conference.add("target")
    await parties.expect_audio(**all_hear_all("customer", "source", "target"))
    await conference.add("fourth")
    await parties.expect_audio(**all_hear_all("customer", "source", "target", "fourth"))
    await conference.coach("fourth", "source")
    await parties.expect_audio(customer="source target", source="customer target fourth")
    await parties.control("hold", channelId=await parties.leg("customer"))
    await parties.expect_audio(customer="music")
    await parties.control("unhold", channelId=await parties.leg("customer"))
    await conference.kick("target")
    await parties.expect_audio(customer="source", source="customer fourth")


KINDS: tuple[Session, ...] = (_completed, _cancelled, _blind, _conference)
