"""The store goes away for longer than the leases, has no room, or has lost everything."""

import os
import signal
from collections.abc import Mapping

from redis.asyncio import Redis

from tests.chaos.faults.limits import BACK, CRASHED, LEASE_MS
from tests.chaos.run import Fault
from tests.chaos.scene import Scene
from tests.harness.now import now_ms
from tests.harness.until import until

SILENT_MS = 5_000
TOO_LITTLE = "100kb"


async def killed(scene: Scene) -> None:
    """SIGKILL, and started again with what its log has."""
    await scene.cluster.valkey.kill()
    await _passed(LEASE_MS + 1000)
    await scene.cluster.valkey.start()
    await _back(scene)


async def silent(scene: Scene) -> None:
    """SIGSTOP for five seconds."""
    pid = scene.cluster.valkey.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        await _passed(SILENT_MS)
    finally:
        os.kill(pid, signal.SIGCONT)
    await _back(scene)


async def full(scene: Scene) -> None:
    """Out of memory for five seconds: it answers, and takes no write."""
    await _limited(scene, TOO_LITTLE)
    await _passed(SILENT_MS)
    await _limited(scene, "0")
    await _back(scene)


async def emptied(scene: Scene) -> None:
    """FLUSHALL."""
    await scene.told.note()
    scene.count_from_here()
    await scene.cluster.flush()
    await until(
        lambda: "lost a slot" in scene.sound.engine.log.read_text(), what="an engine to notice"
    )
    await scene.controlled()
    await scene.cluster.shared()


async def _back(scene: Scene) -> None:
    scene.count_from_here()
    await scene.controlled()
    await scene.cluster.shared()


async def _passed(ms: float) -> None:
    until_ms = now_ms() + ms
    await until(lambda: now_ms() > until_ms, timeout_s=ms / 1000 + 5, what="a while")


async def _limited(scene: Scene, bytes_: str) -> None:
    client = Redis.from_url(scene.cluster.valkey.url)
    await client.config_set("maxmemory", bytes_)
    await client.aclose()


FAULTS: Mapping[str, Fault] = {
    "store_killed": Fault(killed, BACK),
    "store_silent": Fault(silent, BACK),
    "store_full": Fault(full, BACK),
    "store_emptied": Fault(emptied, CRASHED),
}
