"""Connects sockets, or says why a bot cannot be reached.

The guard checks each address of a customer's, whatever a name says.
"""

import asyncio
import os
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_network
from typing import Protocol

from picows.url import WSParsedURL

from base.address_guard import AddressGuard, AddressRefused
from base.lookups import Found, Lookups
from wire.streams.reports import EndReason
from wire.streams.setup import BotAddress

CONNECT_S = 5.0
MAX_PENDING_PER_HOST = 50  # of one account: a dead host must not take all sockets
RECEIVE_BUFFER_BYTES = 65_536  # the kernel's: its frames are read in one turn of the event loop
SEND_BUFFER_BYTES = 65_536  # the kernel's: what a bot does not read stays where it is counted


class PendingConnections:
    """How many connections of each account to each host and port are not up yet."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, int]] = Counter()

    @asynccontextmanager
    async def one(self, account: str, host: str, port: int) -> AsyncIterator[None]:
        """Count one while the context lasts; raises BotUnreachable."""
        key = (account, host, port)
        if self._counts[key] >= MAX_PENDING_PER_HOST:
            text = f"{MAX_PENDING_PER_HOST} other connections to {host} wait for a response"
            raise BotUnreachable("unreachable", text)
        self._counts[key] += 1
        try:
            yield
        finally:
            self._counts[key] -= 1
            if not self._counts[key]:
                del self._counts[key]


class Dialer(Protocol):
    """Opens the sockets of one destination."""

    async def open(self, url: WSParsedURL) -> socket.socket:
        """Return a connected socket; raises BotUnreachable."""


class GuardedDialer:
    """Reaches a customer's address, if the guard allows it."""

    def __init__(self, account: str, address: BotAddress, lookups: Lookups) -> None:
        """Read the networks; raises ValueError."""
        self._account = account
        self._lookups = lookups
        self._guard = AddressGuard(
            tuple(map(ip_network, address.networks)), tuple(map(ip_network, address.denied))
        )

    async def open(self, url: WSParsedURL) -> socket.socket:
        """See Dialer."""
        found = await _find(self._lookups, self._account, url, url.host)
        return await _open(url, url.host, found, self._check)

    def _check(self, url: WSParsedURL, address: str, port: int) -> None:
        self._guard.check(address, port)
        if not url.is_secure:
            self._guard.check_plain(address)


class TrustedDialer:
    """Reaches an address of the operator's, in any network; customers read no host in errors."""

    def __init__(self, name: str, lookups: Lookups) -> None:
        self._name = name  # of what is there, for people
        self._lookups = lookups

    async def open(self, url: WSParsedURL) -> socket.socket:
        """See Dialer."""
        found = await _find(self._lookups, "", url, self._name)
        return await _open(url, self._name, found, _allow)


def _allow(_url: WSParsedURL, _address: str, _port: int) -> None:
    pass


async def _find(lookups: Lookups, account: str, url: WSParsedURL, name: str) -> Sequence[Found]:
    try:
        return await lookups.find(account, url.host, url.port)
    except OSError as error:
        text = f"{name} has no address: {error.strerror}"
        raise BotUnreachable("unreachable", text) from None


async def _open(
    url: WSParsedURL,
    name: str,
    found: Sequence[Found],
    check: Callable[[WSParsedURL, str, int], None],
) -> socket.socket:
    """Return a socket at the first address that `check` allows and that responds."""
    failed = BotUnreachable("unreachable", f"{name} has no address")
    for family, kind, protocol, _, address in found:
        try:
            check(url, str(address[0]), int(address[1]))
            return await _connected(family, kind, protocol, address)
        except AddressRefused as error:
            failed = BotUnreachable("address-refused", error.strerror or str(error))
        except OSError as error:
            failed = BotUnreachable("unreachable", f"{name}: {_reason(error)}")
    raise failed


def _reason(error: OSError) -> str:
    # The event loop has a text of its own, with the address.
    return os.strerror(error.errno) if error.errno else str(error)


async def _connected(
    family: int, kind: int, protocol: int, address: tuple[object, ...]
) -> socket.socket:
    found = socket.socket(family, kind, protocol)
    try:
        found.setblocking(False)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        await asyncio.get_running_loop().sock_connect(found, address)
    except BaseException:
        found.close()
        raise
    return found


class BotUnreachable(Exception):
    """No stream with this bot; `reason` is for programs, the text for people.

    `http_status` is that of a response other than a websocket's; 0: none.
    """

    def __init__(self, reason: EndReason, detail: str, http_status: int = 0) -> None:
        super().__init__(detail)
        self.reason = reason
        self.http_status = http_status
