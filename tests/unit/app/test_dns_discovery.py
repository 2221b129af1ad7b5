"""Nodes found by the DNS."""

import re
from collections.abc import Mapping

import pytest
from pydantic import ValidationError

from engine.app.dns_discovery import Discovery, node_name, resolve_addresses
from engine.config import NodeSettings
from tests.harness.settings import read_settings

DNS = {
    "rpc_token": "x",
    "node_dns": "pbx.example:8088",
    "node_password": "y",
    "node_media_url": "http://engine:8070",
    "node_max_calls": 9,
}


class Names:
    """A DNS of one name."""

    def __init__(self) -> None:
        self.addresses: list[str] | None = ["10.0.0.5", "fd00::1"]
        self.found: list[Mapping[str, NodeSettings]] = []

    async def resolve(self, host: str, port: int) -> list[str]:
        """Tell the addresses."""
        assert (host, port) == ("pbx.example", 8088)
        if self.addresses is None:
            raise OSError("no DNS")
        return self.addresses

    async def take(self, nodes: Mapping[str, NodeSettings]) -> None:
        """Keep what was found."""
        self.found.append(nodes)


async def test_every_address_is_a_node() -> None:
    """Old and new kind, with the settings that all such nodes have."""
    names = Names()
    await Discovery(read_settings(DNS), names.take, names.resolve).poll()
    found = names.found[0]
    urls = {str(node.url) for node in found.values()}
    assert urls == {"http://10.0.0.5:8088/", "http://[fd00::1]:8088/"}
    assert [(each.user, each.max_calls) for each in found.values()] == [("switchroom", 9)] * 2
    assert "ip0a000005" in found


async def test_no_answer_says_nothing() -> None:
    """A DNS that is away, or knows the name no more, closes no node."""
    names = Names()
    names.addresses = None
    await Discovery(read_settings(DNS), names.take, names.resolve).poll()
    assert names.found == []


@pytest.mark.parametrize("address", ["10.0.0.5", "255.255.255.255", "fd00::1", "fe80::1%eth0"])
def test_a_name_is_stable(address: str) -> None:
    """The same for ever, and fit for a call's id."""
    assert node_name(address) == node_name(address)
    assert re.fullmatch("[a-z0-9]{1,16}", node_name(address))
    assert node_name(address) != node_name("10.0.0.6")


async def test_addresses_are_looked_up() -> None:
    """By the system's own resolver."""
    assert await resolve_addresses("127.0.0.1", 8088) == ["127.0.0.1"]


def test_a_name_alone_is_not_enough() -> None:
    """Nodes that are found need a password and an address for their media."""
    with pytest.raises(ValidationError, match="node_password"):
        read_settings({"rpc_token": "x", "node_dns": "pbx.example:8088"})
