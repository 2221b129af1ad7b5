"""What the shapes of the wire are: frozen, camelCase, and nothing unknown is let in."""

from msgspec import Struct


class Shape(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"):
    """What has its default is left out."""


def tag_of(value: Struct | type[Struct]) -> str:
    """Return the published name of a tagged value or type: never the name of its class."""
    tag = value.__struct_config__.tag
    if not isinstance(tag, str):
        raise TypeError("no tag")
    return tag
