"""A slot's lease, as the code that acts under its fencing token sees it."""

from typing import Protocol


class LeaseView(Protocol):
    """A slot's lease and its fencing token."""

    token: int

    @property
    def holds(self) -> bool:
        """Whether no other engine can own the slot yet."""
        ...
