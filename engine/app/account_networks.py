"""Private networks for one account: requests of the others go over connections of their own.

Connections are reused, so a session that reaches private networks is never lent to others.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from ipaddress import ip_network
from typing import Generic, TypeVar

from aiohttp import ClientSession
from msgspec import Struct

from base.address_guard import AddressGuard, guarded_session
from base.lookups import AccountResolver, Lookups
from engine.callbacks.transport import Outcome, SignedEvent, Transport
from engine.config import Settings
from engine.store.redis.address import parse_address
from wire.callbacks.targets import DeliveryTarget

Client = TypeVar("Client")
Made = TypeVar("Made")


class ByAccount(Struct, Generic[Client], frozen=True):
    """A client that reaches the allowed private networks, and one that reaches none.

    The first is for `owner` alone; without an owner for all accounts.
    """

    owner: str
    private: Client
    public: Client

    def map(self, make: Callable[[Client], Made]) -> "ByAccount[Made]":
        """Make something of both."""
        return ByAccount(self.owner, make(self.private), make(self.public))

    def of(self, account: str) -> Client:
        """Return the client of an account."""
        return self.private if self.owner in {"", account} else self.public


Sessions = ByAccount[ClientSession]


class TransportByAccount(Struct, frozen=True):
    """Implements `Transport`."""

    transports: ByAccount[Transport]

    async def deliver(self, target: DeliveryTarget, event: SignedEvent) -> Outcome:
        return await self.transports.of(event.account).deliver(target, event)


def own_ports(settings: Settings) -> frozenset[int]:
    """Return the ports of the installation that the settings name."""
    urls = [settings.rpc_url, settings.media_url, settings.node_media_url]
    ports = {settings.rpc_port, settings.node_ami_port, *settings.node_stream_ports}
    for node in settings.nodes:
        urls += [node.url, node.media_url, *node.stream_gateways]
        ports |= {node.ami_port, node.sip_port}
    ports |= parse_address(settings.redis_url).ports
    ports |= {int(port) for port in (settings.node_dns.rpartition(":")[2],) if port.isdecimal()}
    return frozenset(ports | {url.port for url in urls if url is not None and url.port})


def address_guards(settings: Settings, allowed: tuple[str, ...]) -> ByAccount[AddressGuard]:
    """Return the guards of customers' addresses; `allowed` are private networks."""
    networks = tuple(map(ip_network, allowed))
    denied = tuple(map(ip_network, settings.outbound_deny))
    ports = own_ports(settings)
    private, public = AddressGuard(networks, denied, ports), AddressGuard((), denied, ports)
    return ByAccount(settings.private_networks_account, private, public)


async def open_sessions(
    stack: AsyncExitStack, settings: Settings, allowed: tuple[str, ...], lookups: Lookups
) -> Sessions:
    """Open sessions to customers' addresses; who uses them limits their connections."""
    guards, resolver = address_guards(settings, allowed), AccountResolver(lookups)

    async def session(guard: AddressGuard) -> ClientSession:
        made = guarded_session(
            guard.allow,
            deny=guard.deny,
            ports=guard.ports,
            limit=0,
            limit_per_host=0,
            resolver=resolver,
        )
        return await stack.enter_async_context(made)

    return ByAccount(guards.owner, await session(guards.private), await session(guards.public))
