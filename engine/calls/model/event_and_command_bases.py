"""Base classes of events and commands, which are stored as tagged arrays."""

from msgspec import Struct


class StoredEvent(Struct, frozen=True, array_like=True, gc=False, tag_field="e"):
    """An event as it is stored in the call's log."""


class StoredCommand(Struct, frozen=True, array_like=True, gc=False, tag_field="c"):
    """A command as it is stored in the call's outbox."""
