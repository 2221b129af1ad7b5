"""Nodes found by DNS."""

import re
from collections.abc import Mapping

import pytest
from pydantic import ValidationError

from engine.app.dns_discovery import Discovery, node_name, resolve_addresses
from engine.settings.nodes import NodeSettings
from tests.harness.settings import SECRET, read_settings

DNS = {
    "node_dns": "pbx.example:8088",
    "node_password": SECRET,
    "node_media_url": "http://engine:8070",
    "node_max_calls": 9,
}


class FakeDns:
    """A DNS of one name."""

    def __init__(self) -> None:
        self.addresses: list[str] | None = ["10.0.0.5", "fd00::1"]
        self.found: list[Mapping[str, NodeSettings]] = []

    async def resolve(self, host: str, port: int) -> list[str]:
        assert (host, port) == ("pbx.example", 8088)
        if self.addresses is None:
            raise OSError("no DNS")
        return self.addresses

    async def record(self, nodes: Mapping[str, NodeSettings]) -> None:
        self.found.append(nodes)


async def test_every_address_is_a_node() -> None:
    """IPv4 and IPv6, with the settings of discovered nodes."""
    dns = FakeDns()
    await Discovery(read_settings(DNS), dns.record, dns.resolve).poll()
    found = dns.found[0]
    urls = {str(node.url) for node in found.values()}
    assert urls == {"http://10.0.0.5:8088/", "http://[fd00::1]:8088/"}
    assert [(each.user, each.max_calls) for each in found.values()] == [("switchroom", 9)] * 2
    assert "ip0a000005" in found


async def test_a_failed_lookup_changes_nothing() -> None:
    """A DNS that fails, or does not know the name any more, closes no node."""
    dns = FakeDns()
    dns.addresses = None
    await Discovery(read_settings(DNS), dns.record, dns.resolve).poll()
    assert dns.found == []


@pytest.mark.parametrize("address", ["10.0.0.5", "255.255.255.255", "fd00::1", "fe80::1%eth0"])
def test_a_name_is_stable(address: str) -> None:
    """It never changes, and may be part of a call id."""
    assert node_name(address) == node_name(address)
    assert re.fullmatch("[a-z0-9]{1,16}", node_name(address))
    assert node_name(address) != node_name("10.0.0.6")


async def test_addresses_are_resolved() -> None:
    """By the system's resolver."""
    assert await resolve_addresses("127.0.0.1", 8088) == ["127.0.0.1"]


def test_a_name_needs_a_password() -> None:
    """Discovered nodes need a password."""
    with pytest.raises(ValidationError, match="node_password"):
        read_settings({"node_dns": "pbx.example:8088"})
