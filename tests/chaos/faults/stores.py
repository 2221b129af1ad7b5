"""The store goes away for longer than the leases, has no room, or has lost everything."""

import os
import signal
from collections.abc import Mapping

from redis.asyncio import Redis

from tests.chaos.faults.limits import CRASHED, LEASE_MS, RECOVERED
from tests.chaos.run import Fault
from tests.chaos.scenario import Scenario
from tests.harness.monotonic import now_ms
from tests.harness.until import until

SILENT_MS = 5_000
LOW_MEMORY = "100kb"


async def killed(scene: Scenario) -> None:
    """SIGKILL, and started again with what its log has."""
    await scene.cluster.valkey.kill()
    await _wait_ms(LEASE_MS + 1000)
    await scene.cluster.valkey.start()
    await _recover(scene)


async def silent(scene: Scenario) -> None:
    """SIGSTOP for five seconds."""
    pid = scene.cluster.valkey.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        await _wait_ms(SILENT_MS)
    finally:
        os.kill(pid, signal.SIGCONT)
    await _recover(scene)


async def full(scene: Scenario) -> None:
    """Out of memory for five seconds: it answers, and takes no write."""
    await _set_max_memory(scene, LOW_MEMORY)
    await _wait_ms(SILENT_MS)
    await _set_max_memory(scene, "0")
    await _recover(scene)


async def emptied(scene: Scenario) -> None:
    """FLUSHALL."""
    await scene.event_log.read_new()
    scene.start_measuring()
    await scene.cluster.flush()
    await until(
        lambda: "lost a slot" in scene.healthy.engine.log.read_text(), what="an engine to notice"
    )
    await scene.wait_for_control()
    await scene.cluster.wait_balanced()


async def _recover(scene: Scenario) -> None:
    scene.start_measuring()
    await scene.wait_for_control()
    await scene.cluster.wait_balanced()


async def _wait_ms(ms: float) -> None:
    until_ms = now_ms() + ms
    await until(lambda: now_ms() > until_ms, timeout_s=ms / 1000 + 5, what="a while")


async def _set_max_memory(scene: Scenario, bytes_: str) -> None:
    client = Redis.from_url(scene.cluster.valkey.url)
    await client.config_set("maxmemory", bytes_)
    await client.aclose()


FAULTS: Mapping[str, Fault] = {
    "store_killed": Fault(killed, RECOVERED),
    "store_silent": Fault(silent, RECOVERED),
    "store_full": Fault(full, RECOVERED),
    "store_emptied": Fault(emptied, CRASHED),
}
