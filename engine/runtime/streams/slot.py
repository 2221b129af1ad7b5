"""The slot whose calls a stream command is for: its app, and its lease."""

from msgspec import Struct

from engine.store.store import LeaseView


class LeaseLost(Exception):
    """Another engine may own the call by now; it runs the command again."""


class StreamSlot(Struct, frozen=True):
    """A slot of one owner; each request of its commands is checked, as commands take a while."""

    app: str
    lease: LeaseView

    def check(self) -> None:
        """Raise LeaseLost if the lease is over."""
        if not self.lease.holds:
            raise LeaseLost
