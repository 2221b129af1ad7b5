"""Limits of open connections: in all, and of one network, before anything is read.

Who only opens connections must not keep others out: when all are taken, one that has sent no
complete request gives way to a further one.
"""

import itertools
from collections.abc import Callable, Collection
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Protocol

from msgspec import Struct, field


class Connection(Protocol):
    """A connection that may wait for a request."""

    @property
    def may_be_closed(self) -> bool:
        """Return whether it sends nothing that an account has authenticated."""

    def give_way(self) -> None:
        """Close it at once."""


class WaitingConnections:
    """Connections without a complete request, by network; in each, those that wait longest first.

    They are found without a look at all of them: a flood of new ones must cost little.
    """

    def __init__(self) -> None:
        self._networks: dict[str, dict[Connection, int]] = {}
        self._order = itertools.count()

    def add(self, network: str, connection: Connection) -> None:
        """Let a connection wait from now on; one of no network is closed after all others."""
        self._networks.setdefault(network, {}).setdefault(connection, next(self._order))

    def remove(self, network: str, connection: Connection) -> None:
        waiting = self._networks.get(network, {})
        waiting.pop(connection, None)
        if not waiting:
            self._networks.pop(network, None)

    def close_one(self) -> bool:
        """Close the one that waits longest, of the network that has most; False without any."""
        left = dict(self._networks)
        while left:
            network = max(left, key=self._rank)
            for each in left.pop(network):
                if each.may_be_closed:
                    self.remove(network, each)
                    each.give_way()
                    return True
        return False

    def _rank(self, network: str) -> tuple[bool, int, int]:
        waiting = self._networks[network]
        return bool(network), len(waiting), -next(iter(waiting.values()))


class ConnectionLimits(Struct, frozen=True):
    """Both limits; connections of trusted proxies count in all only."""

    max_connections: int
    max_of_network: int
    proxies: Collection[IPv4Network | IPv6Network]
    network_of: Callable[[str], str]  # an IPv4 address, or the prefix that one customer has
    waiting: WaitingConnections = field(default_factory=WaitingConnections)

    def owner(self, address: str) -> str:
        """Return a connection's network; none for a proxy, which has those of all customers."""
        is_proxy = any(ip_address(address) in each for each in self.proxies)
        return "" if is_proxy else self.network_of(address)

    def make_room(self, address: str, others: Collection[str]) -> bool:
        """Return whether a connection may stay open beside others.

        One of them is closed for it if it has to be.
        """
        if (network := self.owner(address)) and not self._has_room(network, others):
            return False
        return len(others) < self.max_connections or self.waiting.close_one()

    def _has_room(self, network: str, others: Collection[str]) -> bool:
        return sum(self.network_of(each) == network for each in others) < self.max_of_network
