"""What accounts may dial, as stored: a document each, and a set of numbers that may not be called.

A set has a version, that of the last change in it; changes follow one another without a gap.
"""

from collections.abc import Sequence
from typing import Protocol

from wire.dial_policy import DncListChange


class DialPolicyStore(Protocol):
    """Terms and do-not-call lists of accounts; every method may raise StoreDown."""

    async def put(self, account: str, body: bytes) -> None:
        """Store an account's terms (JSON) in place of those before."""
        ...

    async def get(self, account: str) -> bytes | None:
        """Read an account's terms."""
        ...

    async def all(self) -> dict[str, bytes]:
        """Read all terms, by account."""
        ...

    async def change_list(self, account: str, change: DncListChange) -> int:
        """Make changes in a list that stands where they begin, else none; tells where it stands."""
        ...

    async def list_versions(self, accounts: Sequence[str]) -> list[int]:
        """Tell where lists stand; 0: there is none."""
        ...

    async def delete_list(self, account: str) -> None:
        """Take a list away."""
        ...

    async def is_listed(self, account: str, numbers: Sequence[str]) -> bool | None:
        """Tell whether any of some numbers is on a list; None: it is not there as a whole."""
        ...
