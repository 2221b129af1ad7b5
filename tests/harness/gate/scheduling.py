"""Gives tests to workers: those that share servers which are slow to start run in one worker."""

from collections.abc import Mapping

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling


class ServersScheduling(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Begins with the servers of most tests; other tests follow one by one, in their order.

    `servers` has the name of the servers by the start of a test's id. xdist's own groups need the
    marks of tests in ids, where pytest 9.2 does not show them.
    """

    def __init__(self, config: pytest.Config, log: Producer, servers: Mapping[str, str]) -> None:
        super().__init__(config, log)
        self._servers = servers

    def _split_scope(self, nodeid: str) -> str:
        found = (start for start in self._servers if nodeid.startswith(start))
        return self._servers.get(max(found, key=len, default=""), nodeid)
