"""At which node each phone has logged in last: registered there, or placed a call."""

from collections.abc import Callable
from functools import partial

OnLogin = Callable[[str], None]


def ignore_login(_endpoint: str) -> None:
    """Take no notice of a login."""


class PhoneLogins:
    """Node names by PJSIP endpoint, as the nodes' manager interfaces report logins."""

    def __init__(self) -> None:
        self._nodes: dict[str, str] = {}

    def listener(self, node: str) -> OnLogin:
        """Return what a node's logins are reported to: endpoint names without technology."""
        return partial(self._on_login, node)

    def node_of(self, endpoint: str) -> str:
        """Return the node of an endpoint such as PJSIP/1001; empty if none has been seen."""
        return self._nodes.get(endpoint.partition("/")[2].casefold(), "")

    def _on_login(self, node: str, name: str) -> None:
        self._nodes[name.casefold()] = node
