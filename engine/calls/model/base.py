"""What events and commands are: values, stored as tagged arrays."""

from msgspec import Struct


class StoredEvent(Struct, frozen=True, array_like=True, tag_field="e"):
    """What all events share: how they stand in the call's log."""


class StoredCommand(Struct, frozen=True, array_like=True, tag_field="c"):
    """What all commands share: how they stand in the call's outbox."""
