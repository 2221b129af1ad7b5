"""What the shapes of the wire are: frozen, camelCase, and nothing unknown is let in."""

from msgspec import Struct


class Shape(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"):
    """What has its default is left out."""
