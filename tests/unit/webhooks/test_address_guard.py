"""The address guard: rejected and accepted addresses."""

import socket
from ipaddress import ip_network

import pytest
from aiohttp import ClientConnectorError, ClientError
from aiohttp.abc import AbstractResolver, ResolveResult

from base.address_guard import (
    AddressGuard,
    AddressRefused,
    guarded_session,
    is_address_refused,
    is_public,
)

LOOPBACK = (ip_network("127.0.0.0/8"),)
REFUSED = [
    "0.0.0.0", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254",
    "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1",
    "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1",
    "::ffff:8.8.8.8", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808",
    "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "5f00::1",
    "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
]  # fmt: skip


class Names(AbstractResolver):
    """A resolver with the names of a test."""

    def __init__(self, addresses: dict[str, list[str]]) -> None:
        self.addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the test's addresses of a host."""
        del family
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for address in self.addresses[host]
        ]

    async def close(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize("address", REFUSED)
def test_refused(address: str) -> None:
    """Private addresses, and those that embed another address, are rejected."""
    with pytest.raises(AddressRefused, match="are not allowed"):
        AddressGuard().check(address, 443)


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "172.32.0.1", "2606:4700::1111"])
def test_public(address: str) -> None:
    """Ordinary public addresses pass."""
    assert is_public(address)


def test_allowed_network() -> None:
    """A network that the operator allows passes, and only that one."""
    AddressGuard(LOOPBACK).check("127.0.0.1", 443)
    for address in ("::1", "::ffff:127.0.0.1", "10.0.0.1"):
        with pytest.raises(AddressRefused):
            AddressGuard(LOOPBACK).check(address, 443)


@pytest.mark.parametrize("host", ["2130706433", "127.1", "0177.0.0.1"])
async def test_numeric_forms(host: str) -> None:
    """Numeric notations of an address are rejected, too."""
    async with guarded_session() as session:
        with pytest.raises(ClientError):
            await session.get(f"http://{host}:9/", allow_redirects=False)


async def test_name_with_inner_addresses() -> None:
    """A public name that resolves to private addresses is rejected."""
    names = Names({"inner.example": ["10.0.0.1", "fd00::1", "169.254.169.254"]})
    async with guarded_session(resolver=names) as session:
        with pytest.raises(ClientConnectorError, match=r"inner\.example") as caught:
            await session.get("http://inner.example/")
    assert is_address_refused(caught.value)
