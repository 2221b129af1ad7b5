"""PBX nodes found by DNS: every address of a name is a node, named after its address."""

import asyncio
import hashlib
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Mapping

import structlog
from yarl import URL

from engine.config import Settings
from engine.settings.nodes import NodeSettings

log = structlog.get_logger()
POLL_INTERVAL_S = 10.0
Resolve = Callable[[str, int], Awaitable[list[str]]]


class Discovery:
    """Resolves a name again and again; `on_nodes` gets all its nodes each time."""

    def __init__(
        self,
        settings: Settings,
        on_nodes: Callable[[Mapping[str, NodeSettings]], Awaitable[None]],
        resolve: Resolve | None = None,
        interval_s: float = POLL_INTERVAL_S,
    ) -> None:
        self._settings = settings
        self._on_nodes = on_nodes
        self._resolve = resolve or resolve_addresses
        self._interval_s = interval_s
        self._url = URL(f"http://{settings.node_dns}")
        self._scheme = "https" if settings.node_tls else "http"

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._interval_s)
            await self.poll()

    async def poll(self) -> None:
        """Resolve once; a failure says nothing about the nodes."""
        host, port = self._url.host or "", self._url.port or 80
        try:
            addresses = await self._resolve(host, port)
        except OSError as error:
            log.warning("node discovery failed", name=host, error=str(error))
            return
        nodes = (
            self._settings.node_at(node_name(each), _url(self._scheme, each, port))
            for each in addresses
        )
        await self._on_nodes({node.name: node for node in nodes})


async def resolve_addresses(host: str, port: int) -> list[str]:
    """Return a name's IPv4 and IPv6 addresses; raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return sorted({str(address[0]) for *_, address in found})


def node_name(address: str) -> str:
    """Return the name of the node at an address; it must not change, as call ids contain it."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv4Address):
        return f"ip{int(ip):08x}"
    return f"ip{hashlib.sha256(ip.packed).hexdigest()[:14]}"


def _url(scheme: str, address: str, port: int) -> str:
    host = f"[{address}]" if ":" in address else address
    return f"{scheme}://{host}:{port}"
