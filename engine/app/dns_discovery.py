"""Nodes found by the DNS: every address of a name is one, named after its address."""

import asyncio
import hashlib
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Mapping

import structlog
from yarl import URL

from engine.config import NodeSettings, Settings

log = structlog.get_logger()
POLL_INTERVAL_S = 10.0
Resolve = Callable[[str, int], Awaitable[list[str]]]


class Discovery:
    """Looks a name up again and again."""

    def __init__(
        self,
        settings: Settings,
        found: Callable[[Mapping[str, NodeSettings]], Awaitable[None]],
        resolve: Resolve | None = None,
        period_s: float = POLL_INTERVAL_S,
    ) -> None:
        self._settings = settings
        self._found = found
        self._resolve = resolve or addresses
        self._period_s = period_s
        self._where = URL(f"http://{settings.node_dns}")

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await asyncio.sleep(self._period_s)
            await self.poll()

    async def poll(self) -> None:
        """Look once; a name that can't be looked up says nothing of its nodes."""
        host, port = self._where.host or "", self._where.port or 80
        try:
            found = await self._resolve(host, port)
        except OSError as error:
            log.warning("nodes not looked up", name=host, error=str(error))
            return
        nodes = (self._settings.node_at(name_of(each), _url(each, port)) for each in found)
        await self._found({node.name: node for node in nodes})


async def addresses(host: str, port: int) -> list[str]:
    """Ask for a name's addresses, old and new kind; raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return sorted({str(address[0]) for *_, address in found})


def name_of(address: str) -> str:
    """Name the node at an address, always the same: a call's id holds it."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if ip.version == 4:  # noqa: PLR2004 - the version's own name
        return f"ip{int(ip):08x}"
    return f"ip{hashlib.sha256(ip.packed).hexdigest()[:14]}"


def _url(address: str, port: int) -> str:
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"
