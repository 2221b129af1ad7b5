"""Fields of shapes as a page shows them: type, limits, unit, default and text of each."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from msgspec.json import schema_components

from tools.docs.sdk.schema_reading import (
    Schema,
    is_null,
    is_verb,
    options,
    reference,
    text_of,
)
from wire.decoding.patterns import PATTERNS
from wire.openapi.document import TEXTS

_REFS = "#/{name}"
_UNIT = re.compile(r"\bin (milliseconds|seconds)\b(?! since)")
_UNITS = {"milliseconds": "ms", "seconds": "s"}
_FORMS = {  # of texts
    "password": "secret",
    "uri": "address",
    "path": "path",
    "ipvanynetwork": "network",
}
NOTHING = "\N{EN DASH}"


class Field(NamedTuple):
    """A field: its type with limits, and its default; None: it is required."""

    name: str
    kind: str
    default: str | None
    text: str


class Shape(NamedTuple):
    """A shape: its name, its text, its fields, and the shapes of its fields."""

    name: str
    text: str
    fields: tuple[Field, ...]
    parts: Mapping[str, str]  # name of the shape by field


class Shapes:
    """The shapes that some types refer to, read from their JSON Schema."""

    def __init__(self, *types: Any) -> None:
        schemas, self.components = schema_components(types, ref_template=_REFS)
        self._names = dict(zip(map(repr, types), map(reference, schemas), strict=True))

    def of(self, kind: Any) -> Shape:
        """Return the shape of a type."""
        name = self._names[repr(kind)]
        if name is None:
            raise TypeError(f"{kind} is no struct")
        return self.named(name)

    def named(self, name: str) -> Shape:
        schema = self.components[name]
        required = schema.get("required", ())
        fields = tuple(
            self._field(name, field, each, is_required=field in required)
            for field, each in schema["properties"].items()
        )
        parts = {
            field: part
            for field, each in schema["properties"].items()
            for part in self._parts(each)
        }
        return Shape(name, text_of(schema), fields, parts)

    def _field(self, shape: str, name: str, schema: Schema, *, is_required: bool) -> Field:
        text = schema.get("description") or TEXTS.get(f"{shape}.{name}") or TEXTS.get(name, "")
        unit = _UNIT.search(text)
        kind = kind_of(schema) + (f" ({_UNITS[unit[1]]})" if unit else "")
        return Field(name, kind, None if is_required else default_of(schema), text)

    def _parts(self, schema: Schema) -> Iterator[str]:
        """Yield the names of the shapes in a field; verbs have their own pages."""
        if is_verb(schema):
            return
        for each in options(schema):
            if (name := reference(each)) is not None:
                yield name
            elif isinstance(items := each.get("items"), dict):
                yield from self._parts(items)


def kind_of(schema: Schema) -> str:
    """Return the type of a value with its limits."""
    several = [each for each in options(schema) if not is_null(each)]
    if is_verb(schema):
        others = [each for each in several if reference(each) is None]
        return " or ".join(["a verb", *map(kind_of, others)])
    if len(several) > 1:
        return ", or ".join(dict.fromkeys(map(kind_of, several)))
    return _single(several[0]) if several else "null"


def _single(schema: Schema) -> str:
    if reference(schema) is not None:
        return "an object"
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    match schema.get("type"):
        case "string":
            return _text_kind(schema)
        case "integer" | "number" as kind:
            return f"{kind}{_range(schema)}"
        case "array":
            items = kind_of(schema["items"]) if schema.get("items") else "any"
            return f"list{_count(schema)}: {items}"
        case "object":
            return "an object" + (f",{_count(schema)} fields" if _count(schema) else "")
        case None:
            return "any JSON"
        case other:
            return str(other)


def _text_kind(schema: Schema) -> str:
    if (pattern := schema.get("pattern")) in PATTERNS:
        return PATTERNS[pattern]
    kind = _FORMS.get(schema.get("format", ""), "text")
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if most is None or kind != "text":
        return f"{kind} of at least {least} characters" if least > 1 else kind
    return f"{kind} of {f'{least} to ' if least else 'at most '}{number(most)} characters"


def _range(schema: Schema) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    above = schema.get("exclusiveMinimum")
    if above is not None:
        return f", above {number(above)}" + ("" if most is None else f" to {number(most)}")
    if least is None:
        return "" if most is None else f", at most {number(most)}"
    return f", at least {number(least)}" if most is None else f", {number(least)} to {number(most)}"


def _count(schema: Schema) -> str:
    sizes = ("minItems", "maxItems") if schema.get("type") == "array" else (
        "minProperties", "maxProperties",
    )  # fmt: skip
    least, most = (schema.get(each) for each in sizes)
    if most is None:
        return ""
    return f" of {f'{least} to ' if least else 'at most '}{number(most)}"


def number(value: Any) -> str:
    """Return a number as people read it; a float only where it is one."""
    return f"{value:,g}" if isinstance(value, float) else f"{value:,}"


def default_of(schema: Schema) -> str:
    """Return the default; a dash where the field is absent or an object of defaults."""
    value = schema.get("default")
    return NOTHING if value in (None, {}, []) else f"`{_json(value)}`"


def _json(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return value or '""'
        case _:
            return str(value)
