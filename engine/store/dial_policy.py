"""Stored dial policies: a document for each account, and its do-not-call list.

A list has a version, that of its last change; changes follow one another without a gap.
"""

from collections.abc import Sequence
from typing import Protocol

from wire.dial_policy import DncListChange


class DialPolicyStore(Protocol):
    """Dial policies and do-not-call lists of accounts; every method may raise StoreDown."""

    async def put(self, account: str, body: bytes) -> None:
        """Store an account's policy (JSON), replacing the previous one."""
        ...

    async def get(self, account: str) -> bytes | None:
        """Read an account's policy."""
        ...

    async def all(self) -> dict[str, bytes]:
        """Read all policies, by account."""
        ...

    async def change_list(self, account: str, change: DncListChange) -> int:
        """Apply changes to a list whose version is their `after`; returns the list's version."""
        ...

    async def list_versions(self, accounts: Sequence[str]) -> list[int]:
        """Read the versions of lists; 0: there is no list."""
        ...

    async def delete_list(self, account: str) -> None:
        """Delete a list."""
        ...

    async def is_listed(self, account: str, numbers: Sequence[str]) -> bool | None:
        """Return whether any of the numbers is on a list; None: the list is incomplete."""
        ...
