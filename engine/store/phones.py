"""Interface of the store of agents' phones: their credentials, and whose each endpoint is."""

from collections.abc import Mapping
from typing import Protocol

RESERVED_MS = 60_000  # in which an agent that was validated is stored


class PhoneStore(Protocol):
    """The phones of all accounts; every method may raise StoreDown."""

    async def all(self) -> dict[str, bytes]:
        """Read the credentials of all endpoints, by name."""

    async def read(self, name: str) -> tuple[bytes | None, bool]:
        """Read the credentials of an endpoint, and whether it had some in the last week."""

    async def changes(self, after: str) -> tuple[Mapping[str, bytes | None], str]:
        """Read what was stored or deleted (None) after a position, and the next position.

        Without a position, or if its changes are not known any more: everything that is stored, and
        what was deleted in the last week.
        """

    async def reserve(self, endpoint: str, account: str) -> str:
        """Let no other account claim an endpoint for RESERVED_MS; returns whose it is."""

    async def claim(self, endpoint: str, account: str) -> str:
        """Reserve an endpoint, and let it belong to the account; returns whose it is."""

    async def release_unused(self, endpoint: str, account: str) -> None:
        """Release an endpoint of an account, unless it was reserved in the last RESERVED_MS."""

    async def release(self, endpoint: str, account: str) -> None:
        """Let an endpoint of an account belong to none."""

    async def owner(self, endpoint: str) -> str | None:
        """Return the account that an endpoint belongs to; a reservation does not count."""
