"""Runs what an engine's duty for one PBX node requires: connections and periodic work."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from engine.runtime.base.tasks import Tasks
from engine.runtime.cluster.node_duties import NO_DUTY, NodeDuty

Work = Callable[[], Coroutine[Any, Any, None]]
PARTS: Mapping[str, Callable[[NodeDuty], bool]] = {
    "owner": lambda duty: duty.owns,
    "stranger": lambda duty: not duty.owns,
    "supervisor": lambda duty: duty.supervises,
    "listener": lambda duty: duty.hears,
}


class NodeUpkeep:
    """Starts and ends the work of each part of a node as the duty changes."""

    def __init__(self, node: str, tasks: Tasks, work: Mapping[str, Sequence[Work]]) -> None:
        self._node = node
        self._tasks = tasks
        self._work = work
        self._running: set[str] = set()
        self.apply(NO_DUTY)

    def apply(self, duty: NodeDuty) -> None:
        for part, is_wanted in PARTS.items():
            if is_wanted(duty) and part not in self._running:
                self._running.add(part)
                for work in self._work.get(part, ()):
                    self._tasks.start(self._task(part), work())
            elif not is_wanted(duty) and part in self._running:
                self._running.discard(part)
                self._tasks.cancel(self._task(part))

    async def close(self) -> None:
        """End all work, and wait until it has ended."""
        for part in PARTS:
            await self._tasks.end(self._task(part))
        self._running.clear()

    def _task(self, part: str) -> str:
        return f"{part} of node {self._node}"
