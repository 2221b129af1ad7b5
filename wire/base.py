"""Base of all wire types: frozen, camelCase, unknown fields rejected."""

from typing import Annotated

from msgspec import Meta, Struct

from wire.decoding import patterns


class Shape(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"):
    """Base struct; fields with their default value are omitted."""


def tag_of(value: Struct | type[Struct]) -> str:
    """Return the published name of a tagged value or type: never the name of its class."""
    tag = value.__struct_config__.tag
    if not isinstance(tag, str):
        raise TypeError("no tag")
    return tag


# Also a number or a boolean, which `wire.decoding.lenient` converts.
Text = Annotated[str, Meta(extra={"scalars": True})]
Url = Annotated[str, Meta(pattern=patterns.URL, max_length=2048)]
# Also with separators, as people write a number; `wire.decoding.lenient` removes them.
_WRITTEN = {"number": True}
Number = Annotated[str, Meta(pattern=patterns.NUMBER, extra=_WRITTEN)]
Party = Annotated[str, Meta(pattern=patterns.PARTY, extra=_WRITTEN)]
DialTarget = Annotated[str, Meta(pattern=patterns.DIAL_TARGET, extra=_WRITTEN)]
# Also with blanks around it, or as a mailto: link, which `wire.decoding.lenient` removes.
Email = Annotated[str, Meta(max_length=254, pattern=patterns.EMAIL, extra={"email": True})]
Name = Annotated[str, Meta(pattern=patterns.NAME)]
CallerId = Annotated[str, Meta(pattern=patterns.CALLER_ID, extra=_WRITTEN)]
Language = Annotated[str, Meta(pattern=patterns.LANGUAGE)]
Seconds = Annotated[float, Meta(ge=0.001, le=86_400)]  # calls count in milliseconds
Labels = Annotated[dict[Name, Annotated[str, Meta(max_length=256)]], Meta(max_length=16)]
Milliseconds = Annotated[int, Meta(ge=0, le=600_000)]
