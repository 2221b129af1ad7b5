"""Gives tests to workers: those that share servers which are slow to start run in one worker."""

from collections.abc import Mapping

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

MIN_PENDING = 2  # a worker begins a test when it knows what follows


class ServersScheduling(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Begins with the servers of most tests; other tests follow one by one, in their order.

    `servers` has the name of the servers by the start of a test's id. xdist's own groups need the
    marks of tests in ids, where pytest 9.2 does not show them.
    """

    def __init__(self, config: pytest.Config, log: Producer, servers: Mapping[str, str]) -> None:
        super().__init__(config, log)
        self._servers = servers

    def remove_node(self, node: WorkerController) -> str | None:
        """Take a worker that has ended: the test that has ended it is returned, and runs no more.

        xdist would give others all tests of the worker again, also those that have passed.
        """
        units = self.assigned_work.pop(node).items()
        left = {name: [test for test, ended in unit.items() if not ended] for name, unit in units}
        crashed = next((tests.pop(0) for tests in left.values() if tests), None)
        for name in [name for name, tests in left.items() if tests]:
            self.workqueue[name] = dict.fromkeys(left[name], False)
            self.workqueue.move_to_end(name, last=False)
        for other in self.nodes:
            self._reschedule(other)
        return crashed

    def schedule(self) -> None:
        """Distribute the tests; a worker that has come later begins with two, as the others did.

        With a single one it would wait for another, or for the end.
        """
        is_later = self.collection is not None
        super().schedule()
        for node in self.nodes if is_later else ():
            while self.workqueue and self._pending_of(self.assigned_work[node]) < MIN_PENDING:
                self._assign_work_unit(node)
            if not self.workqueue and not node.shutting_down:
                node.shutdown()

    def _split_scope(self, nodeid: str) -> str:
        found = (start for start in self._servers if nodeid.startswith(start))
        return self._servers.get(max(found, key=len, default=""), nodeid)
