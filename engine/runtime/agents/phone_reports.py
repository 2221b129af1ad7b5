"""What engines tell each other of phones: the endpoints of each node, and the last logins.

Only a node's supervisor asks the node for them. Its heartbeat carries a revision, so the others
read a report only when it has changed.
"""

from collections.abc import Callable

from engine.runtime.agents.configured_endpoints import ConfiguredEndpoints
from engine.runtime.agents.phone_logins import PhoneLogins
from wire.rpc import PhoneReport


class PhoneReports:
    """Makes this engine's report, and takes those of others; `configured` is by node."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self.revision = 0  # of this engine's report; 0: it is empty
        self.configured: dict[str, ConfiguredEndpoints] = {}
        self.logins = PhoneLogins(now_ms, self.on_change)
        self._now_ms = now_ms

    def on_change(self) -> None:
        """Count a change; the number differs from those of an earlier process."""
        self.revision = max(self.revision + 1, self._now_ms())

    def report(self) -> PhoneReport:
        own = {name: each for name, each in self.configured.items() if each.is_polled}
        return PhoneReport(
            {name: tuple(sorted(each.names)) for name, each in own.items()}, self.logins.own()
        )

    def learn(self, report: PhoneReport) -> None:
        """Take another engine's report."""
        for node, names in report.endpoints.items():
            if node in self.configured:
                self.configured[node].learn(names)
        for phone, login in report.logins.items():
            self.logins.learn(phone, login)
