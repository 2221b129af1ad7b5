"""Interface of the store of listeners: who listens, their requests, and the responses."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from wire.listeners import Listener

MAX_LISTENERS = 20  # of an account
ListenerState = Literal["live", "replaced", "ended"]
FIRST = "0-0"  # before the first request


class StoredRequest(Struct, frozen=True):
    """A request for a listener, as JSON, and its position."""

    position: str
    body: bytes


class ListenerStore(Protocol):
    """A listener lives as long as its lease; every method may raise StoreDown."""

    async def add(self, listener: Listener, lease_ms: int) -> bool:
        """Add a listener in place of an earlier one for the same number or call.

        False if its account has MAX_LISTENERS others.
        """

    async def renew(self, account: str, listener: str, lease_ms: int) -> ListenerState:
        """Extend the lease of a listener, until its end at most."""

    async def remove(self, account: str, listener: str) -> bool:
        """End a listener; False if it has ended already."""

    async def live(self) -> list[Listener]:
        """Read the live listeners of all accounts."""

    async def offer(self, listener: str, request: str, body: bytes, wait_ms: int) -> str:
        """Store a request whose response counts for a while; returns its position."""

    async def requests(
        self, listener: str, after: str, wait_ms: int, limit: int
    ) -> Sequence[StoredRequest]:
        """Read the open requests after a position; wait for the first one."""

    async def respond(self, listener: str, request: str, body: bytes) -> bool:
        """Store the response of a request; False if nothing waits for it."""

    async def response(self, listener: str, request: str, wait_ms: int) -> bytes | None:
        """Read the response of a request; wait for it."""

    async def withdraw(self, listener: str, request: str, position: str) -> None:
        """Remove a request and its response."""
