"""From engine to engine: what one asks of another says so, and goes no further."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import aiohttp
from aiohttp import web
from msgspec import Struct

FORWARDED = "Switchroom-Forwarded"
OWNER_WAIT_S = 3.0  # a slot between two owners has one soon
SHUTDOWN_WAIT_S = 0.25  # who asks an engine that ends does better to ask another
RETRY_DELAY_S = 0.02
_CONNECT_S = 1.0
# What is raised before a request was sent; any other may have been done.
NOT_SENT_ERRORS = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)


class SlotDirectory(Protocol):
    """Who knows the other engines."""

    @property
    def is_leaving(self) -> bool:
        """Whether this engine has given its slots back, or does so now."""

    @property
    def is_settled(self) -> bool:
        """Whether every slot is this engine's, or that of another that lives."""

    @property
    def peer_urls(self) -> list[str]:
        """Tell where the other engines are."""

    def wake(self) -> None:
        """Look at once who has what: it is known otherwise with every beat."""

    def url_of(self, slot: int | None) -> str | None:
        """Tell where the engine is that has a slot, or, for None, any slot; None: nobody else."""


class PeerClient(Struct, frozen=True):
    """The way to the other engines."""

    directory: SlotDirectory
    session: aiohttp.ClientSession

    @property
    def owner_wait_s(self) -> float:
        """How long a slot's next owner is waited for."""
        return SHUTDOWN_WAIT_S if self.directory.is_leaving else OWNER_WAIT_S


@asynccontextmanager
async def open_peer_client(owners: SlotDirectory, token: str) -> AsyncIterator[PeerClient]:
    """Keep the way open for as long as the context lasts."""
    headers = {"Authorization": f"Bearer {token}", FORWARDED: "1"}
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
        yield PeerClient(owners, session)


def is_forwarded(request: web.Request) -> bool:
    """Tell whether another engine asks."""
    return FORWARDED in request.headers
