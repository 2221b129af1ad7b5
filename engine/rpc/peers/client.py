"""From engine to engine: what one asks of another says so, and goes no further."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import aiohttp
from aiohttp import web
from msgspec import Struct

HANDED_ON = "Switchroom-Forwarded"
WAIT_S = 3.0  # a slot between two owners has one soon
LAST_WAIT_S = 0.25  # who asks an engine that ends does better to ask another
AGAIN_S = 0.02
_CONNECT_S = 1.0
# What is raised before a request was sent; any other may have been done.
NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)


class Owners(Protocol):
    """Who knows the other engines."""

    @property
    def is_leaving(self) -> bool:
        """Whether this engine has given its slots back, or does so now."""

    @property
    def is_settled(self) -> bool:
        """Whether every slot is this engine's, or that of another that lives."""

    @property
    def others(self) -> list[str]:
        """Tell where the other engines are."""

    def look(self) -> None:
        """Look at once who has what: it is known otherwise with every beat."""

    def url_of(self, slot: int | None) -> str | None:
        """Tell where the engine is that has a slot, or, for None, any slot; None: nobody else."""


class Hop(Struct, frozen=True):
    """The way to the other engines."""

    owners: Owners
    session: aiohttp.ClientSession

    @property
    def wait_s(self) -> float:
        """How long a slot's next owner is waited for."""
        return LAST_WAIT_S if self.owners.is_leaving else WAIT_S


@asynccontextmanager
async def hopping(owners: Owners, token: str) -> AsyncIterator[Hop]:
    """Keep the way open for as long as the context lasts."""
    headers = {"Authorization": f"Bearer {token}", HANDED_ON: "1"}
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
        yield Hop(owners, session)


def is_handed_on(request: web.Request) -> bool:
    """Tell whether another engine asks."""
    return HANDED_ON in request.headers
