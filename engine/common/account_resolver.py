"""Finds addresses for an HTTP client whose connections belong to accounts."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from aiohttp.abc import AbstractResolver, ResolveResult

from base.lookups import Lookups

# An HTTP client says to its resolver only which host it is; "": connections of no account.
_ACCOUNT: ContextVar[str] = ContextVar("account", default="")


@contextmanager
def connecting_for(account: str) -> Iterator[None]:
    """Let new connections of this task use the account's share of lookups."""
    token = _ACCOUNT.set(account)
    try:
        yield
    finally:
        _ACCOUNT.reset(token)


class AccountResolver(AbstractResolver):
    """Resolves names for the account of the task; its connector must keep no names of its own.

    Such a connector would let a request wait for the lookup of another account.
    """

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses of all families, as connectors want them; raises OSError."""
        del family
        found = await self._lookups.find(_ACCOUNT.get(), host, port)
        return [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=port,
                family=kind,
                proto=protocol,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for kind, _, protocol, _, address in found
        ]

    async def close(self) -> None:
        """Do nothing: threads belong to who has made the lookups."""
