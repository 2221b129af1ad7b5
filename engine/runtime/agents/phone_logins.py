"""At which node each phone has logged in last: registered there, or placed a call.

Only a node's supervisor asks the node for its endpoints. Its heartbeat carries a revision, so the
other engines read a report of endpoints and logins only when it has changed.
"""

from collections.abc import Callable
from functools import partial

from engine.runtime.agents.configured_endpoints import ConfiguredEndpoints
from wire.rpc import PhoneLogin, PhoneReport

OnLogin = Callable[[str], None]


def ignore_login(_endpoint: str) -> None:
    """Take no notice of a login."""


def _ignore_change() -> None:
    pass


class PhoneLogins:
    """Node names by PJSIP endpoint, as the nodes' manager interfaces report logins.

    `now_ms` is a time that all engines share: each hears of the logins at the nodes it supervises.
    """

    def __init__(
        self,
        now_ms: Callable[[], int] = lambda: 0,
        on_change: Callable[[], None] = _ignore_change,
    ) -> None:
        self._now_ms = now_ms
        self._on_change = on_change
        self._latest: dict[str, PhoneLogin] = {}
        self._own: set[str] = set()  # phones whose latest login this engine has heard of first

    def listener(self, node: str) -> OnLogin:
        """Return what a node's logins are reported to: endpoint names without technology."""
        return partial(self._on_login, node)

    def node_of(self, endpoint: str) -> str:
        """Return the node of an endpoint such as PJSIP/1001; empty if none has been seen."""
        found = self._latest.get(endpoint.partition("/")[2].casefold())
        return found.node if found else ""

    def own(self) -> dict[str, PhoneLogin]:
        """Return the latest logins that other engines know only from this one."""
        return {phone: self._latest[phone] for phone in sorted(self._own)}

    def learn(self, phone: str, login: PhoneLogin) -> None:
        """Take a login that another engine has heard of, unless a later one is known."""
        known = self._latest.get(phone)
        if known is None or known.at_ms < login.at_ms:
            self._latest[phone] = login
            self._own.discard(phone)

    def _on_login(self, node: str, name: str) -> None:
        phone = name.casefold()
        known = self._latest.get(phone)
        if known is None or known.node != node:
            self._latest[phone] = PhoneLogin(node, self._now_ms())
            self._own.add(phone)
            self._on_change()


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
