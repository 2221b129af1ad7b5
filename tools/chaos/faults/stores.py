"""Faults of the store: unavailable for longer than the leases, full, or emptied."""

import os
import signal
from collections.abc import Mapping

from redis.asyncio import Redis

from tests.harness.monotonic import now_ms
from tests.harness.until import until
from tools.chaos.faults.limits import CRASHED, LEASE_MS, RECOVERED
from tools.chaos.run import Fault
from tools.chaos.scenario import Scenario

SILENT_MS = 5_000
LOW_MEMORY = "100kb"


async def kill(scenario: Scenario) -> None:
    """SIGKILL, and a restart from its append-only file after the leases."""
    await scenario.cluster.valkey.kill()
    await _wait_ms(LEASE_MS + 1000)
    await scenario.cluster.valkey.start()
    await _recover(scenario)


async def suspend(scenario: Scenario) -> None:
    """SIGSTOP for five seconds."""
    pid = scenario.cluster.valkey.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        await _wait_ms(SILENT_MS)
    finally:
        os.kill(pid, signal.SIGCONT)
    await _recover(scenario)


async def fill(scenario: Scenario) -> None:
    """Out of memory for five seconds: it answers, but refuses writes."""
    await _set_max_memory(scenario, LOW_MEMORY)
    await _wait_ms(SILENT_MS)
    await _set_max_memory(scenario, "0")
    await _recover(scenario)


async def flush(scenario: Scenario) -> None:
    """FLUSHALL."""
    await scenario.event_log.read_new()
    scenario.start_measuring()
    await scenario.cluster.flush()
    await until(
        lambda: "store lost a shard" in scenario.healthy.engine.log.read_text(),
        what="an engine to notice",
    )
    await scenario.wait_for_control()
    await scenario.cluster.wait_balanced()


async def _recover(scenario: Scenario) -> None:
    scenario.start_measuring()
    await scenario.wait_for_control()
    await scenario.cluster.wait_balanced()


async def _wait_ms(ms: float) -> None:
    until_ms = now_ms() + ms
    await until(lambda: now_ms() > until_ms, timeout_s=ms / 1000 + 5, what=f"{ms:.0f} ms to pass")


async def _set_max_memory(scenario: Scenario, bytes_: str) -> None:
    client = Redis.from_url(scenario.cluster.valkey.url)
    await client.config_set("maxmemory", bytes_)
    await client.aclose()


FAULTS: Mapping[str, Fault] = {
    "store_killed": Fault(kill, RECOVERED),
    "store_silent": Fault(suspend, RECOVERED),
    "store_full": Fault(fill, RECOVERED),
    "store_emptied": Fault(flush, CRASHED),
}
