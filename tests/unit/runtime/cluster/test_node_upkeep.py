"""The work for one node follows the engine's duty for it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from engine.runtime.base.tasks import Tasks
from engine.runtime.cluster.node_duties import NO_DUTY, PARTS, NodeDuty, NodeUpkeep


class Scene:
    """Work that notes when it runs."""

    def __init__(self) -> None:
        self.faults: list[BaseException] = []
        self.running: set[str] = set()
        self.tasks = Tasks(self.faults.append)
        self.upkeep = NodeUpkeep("pbx1", self.tasks, {part: [self._work(part)] for part in PARTS})

    async def runs(self, duty: NodeDuty) -> set[str]:
        """Apply a duty; return the parts that run then."""
        self.upkeep.apply(duty)
        for _ in range(3):
            await asyncio.sleep(0)
        return set(self.running)

    def _work(self, part: str) -> Callable[[], Coroutine[Any, Any, None]]:
        async def work() -> None:
            self.running.add(part)
            try:
                await asyncio.Event().wait()
            finally:
                self.running.discard(part)

        return work


async def test_work_follows_the_duty() -> None:
    """A node without a duty is only probed; a part ends with its duty."""
    scene = Scene()
    assert await scene.runs(NO_DUTY) == {"stranger"}
    assert await scene.runs(NodeDuty(hears=True)) == {"stranger", "listener"}
    everything = {"owner", "supervisor", "listener"}
    assert await scene.runs(NodeDuty(owns=True, supervises=True, hears=True)) == everything
    assert await scene.runs(NodeDuty(owns=True, hears=True)) == {"owner", "listener"}
    assert await scene.runs(NO_DUTY) == {"stranger"}
    await scene.upkeep.close()
    assert scene.running == set()
    assert scene.faults == []


async def test_work_runs_once() -> None:
    """The same duty again starts nothing again."""
    scene = Scene()
    duty = NodeDuty(owns=True, hears=True)
    assert await scene.runs(duty) == await scene.runs(duty) == {"owner", "listener"}
    await scene.tasks.close()
    assert scene.running == set()
