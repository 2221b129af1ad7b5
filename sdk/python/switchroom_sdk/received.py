"""Base of what Switchroom sends: frozen, camelCase in JSON; unknown fields are ignored."""

from msgspec import Struct


class Received(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Fields that later versions add are ignored."""
