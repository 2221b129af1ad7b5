"""Limits of open connections: in all, and of one network, before anything is read."""

from collections.abc import Callable, Collection
from ipaddress import IPv4Network, IPv6Network, ip_address

from msgspec import Struct


class ConnectionLimits(Struct, frozen=True):
    """Both limits; connections of trusted proxies count in all only."""

    max_connections: int
    max_of_network: int
    proxies: Collection[IPv4Network | IPv6Network]
    network_of: Callable[[str], str]  # an IPv4 address, or the prefix that one customer has

    def has_room(self, address: str, others: Collection[str]) -> bool:
        """Return whether a connection may stay open beside others."""
        if len(others) >= self.max_connections:
            return False
        if any(ip_address(address) in each for each in self.proxies):
            return True
        network = self.network_of(address)
        return sum(self.network_of(each) == network for each in others) < self.max_of_network
