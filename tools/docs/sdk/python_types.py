"""Python source of msgspec structs, from JSON Schemas."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tools.docs.sdk.schema_reading import (
    VERBS,
    Schema,
    camel,
    enum_of,
    is_null,
    is_verb,
    options,
    reference,
    snake,
    text_of,
)

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
LIMITS = {
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "minProperties": "min_length",
    "maxProperties": "max_length",
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "pattern": "pattern",
}
SHOWN_PATTERN = "shownPattern"
MAX_LINE = 100


class PythonTypes:
    """Writes types; `aliases` are names of values by the JSON of their schema.

    Without `with_limits` a value is only its type, and without `has_words` a word is any text:
    later versions may send others. `opaque` are components that are any JSON object.
    """

    def __init__(
        self,
        aliases: Mapping[str, Schema],
        *,
        with_limits: bool,
        opaque: Collection[str] = (),
        has_verbs: bool = True,
        has_words: bool | None = None,
    ) -> None:
        self._names = {_key(schema): name for name, schema in aliases.items()}
        self._with_limits = with_limits
        self._opaque = opaque
        self._has_verbs = has_verbs
        self._has_words = with_limits if has_words is None else has_words

    def alias_lines(self, aliases: Mapping[str, Schema]) -> Iterator[str]:
        """Yield the definitions of the named values."""
        for name, schema in aliases.items():
            yield f"{name} = {self._limited(schema)}"

    def written(self, schema: Schema) -> str:
        """Return the type of a schema."""
        found = options(schema)
        if len(found) == 1:
            return self._one(found[0])
        rest = [each for each in found if not is_null(each)]
        names = []
        if is_verb(schema):
            names.append("Verb" if self._has_verbs else "dict[str, Any]")
            rest = [each for each in rest if reference(each) not in VERBS]
            if self._has_verbs and [self._one(each) for each in rest] in (["Url"], ["str"]):
                names, rest = ["Action"], []
        names += [self._one(each) for each in _safe(rest)]
        if any(is_null(each) for each in found):
            names.append("None")
        return " | ".join(dict.fromkeys(names))

    def _one(self, schema: Schema) -> str:
        if (name := reference(schema)) is not None:
            return "dict[str, Any]" if name in self._opaque else name
        key = _key(schema)
        if self._with_limits and key in self._names:
            return self._names[key]
        return self._limited(schema)

    def _limited(self, schema: Schema) -> str:
        plain = self._plain(schema)
        limits = {LIMITS[each]: value for each, value in schema.items() if each in LIMITS}
        if not self._with_limits or not (limits or SHOWN_PATTERN in schema):
            return plain
        written = [f"{name}={literal(value)}" for name, value in limits.items()]
        if (pattern := schema.get(SHOWN_PATTERN)) is not None:
            written.append(f'extra_json_schema={{"pattern": {literal(pattern)}}}')
        return f"Annotated[{plain}, Meta({', '.join(written)})]"

    def _plain(self, schema: Schema) -> str:
        if "enum" in schema and self._has_words:
            return f"Literal[{', '.join(json.dumps(each) for each in schema['enum'])}]"
        match schema.get("type", "string" if "enum" in schema else None):
            case "array":
                return f"tuple[{self.written(schema.get('items', {}))}, ...]"
            case "object":
                inner = schema.get("additionalProperties", True)
                return f"dict[str, {self.written(inner) if isinstance(inner, dict) else 'Any'}]"
            case str(name):
                return SCALARS[name]
            case _:
                return "Any"

    def struct(self, name: str, schema: Schema, base: str, options_: str = "") -> str:
        """Return the source of a class; a tag is a field `type` with one value."""
        properties = dict(schema.get("properties", {}))
        tag = properties.pop("type", None)
        is_tagged = tag is not None and "enum" in tag and len(tag["enum"]) == 1
        if tag is not None and not is_tagged:
            properties["type"] = tag
        head = f'{options_}, tag="{tag["enum"][0]}"' if is_tagged and tag else options_
        required = set(schema.get("required", ()))
        lines = [f"class {name}({base}{head}):", *_docstring(text_of(schema), 4), ""]
        ordered = sorted(properties.items(), key=lambda each: each[0] not in required)
        for field, each in ordered:
            lines += self._field(field, each, is_required=field in required)
        if not properties:
            lines.pop()
        return "\n".join(lines)

    def _field(self, name: str, schema: Schema, *, is_required: bool) -> Iterator[str]:
        kind = self.written(schema)
        attribute = snake(name)
        renamed = "" if camel(attribute) == name else f'name="{name}"'
        default = "" if is_required else self._default(schema, kind)
        if default == "None" and "None" not in kind and kind != "Any":
            kind += " | None"
        if renamed or default.startswith("factory "):
            parts = [renamed] if renamed else []
            if default.startswith("factory "):
                parts.insert(0, f"default_factory={default.removeprefix('factory ')}")
            elif default:
                parts.insert(0, f"default={default}")
            yield f"    {attribute}: {kind} = field({', '.join(parts)})"
        else:
            yield f"    {attribute}: {kind}{f' = {default}' if default else ''}"
        text = text_of(schema)
        if not self._has_words and (words := enum_of(schema)):
            text = "\n\n".join(filter(None, (text, f"Known values: {', '.join(words)}.")))
        if text:
            yield from _docstring(text, 4)

    def _default(self, schema: Schema, kind: str) -> str:
        match schema.get("default"):
            case None:
                return "None"
            case {}:
                return constant_of(kind) if reference(schema) else "factory dict"
            case value:
                return literal(value)


def _safe(alternatives: list[Schema]) -> list[Schema]:
    """Return alternatives in which the patterns of texts beside arrays are only shown.

    msgspec 0.22 frees a type with both twice, which ends the program with SIGABRT at its exit.
    `chain.checked` checks such a text as an array of one.
    """
    if not any(each.get("type") == "array" for each in alternatives):
        return alternatives
    return [
        {SHOWN_PATTERN if name == "pattern" else name: value for name, value in each.items()}
        for each in alternatives
    ]


def _key(schema: Schema) -> str:
    """Return what distinguishes schemas of values; texts and defaults do not."""
    kept = {
        key: each
        for key, each in schema.items()
        if key not in {"description", "examples", "default", "title"}
    }
    return json.dumps(kept, sort_keys=True)


def literal(value: Any) -> str:
    """Return a default as source."""
    match value:
        case bool() | None | int() | float():
            return repr(value)
        case str() if "\\" in value and '"' not in value:
            return f'r"{value}"'
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return repr(tuple(value)).replace("'", '"')
        case _:
            return repr(value)


def constant_of(name: str) -> str:
    """Return the name of the constant that is a struct's default."""
    return f"DEFAULT_{snake(name).upper()}"


def in_order(components: Mapping[str, Schema]) -> dict[str, Schema]:
    """Return components in an order in which each is after its defaults."""
    defaults = {name: set(_defaults(each)) for name, each in components.items()}
    return {name: components[name] for name in sorted(components, key=lambda n: len(defaults[n]))}


def default_structs(components: Mapping[str, Schema]) -> set[str]:
    """Return the names of structs that are the default of a field."""
    return {found for each in components.values() for found in _defaults(each)}


def _defaults(schema: Schema) -> Iterator[str]:
    for each in schema.get("properties", {}).values():
        if (name := reference(each)) is not None and each.get("default") == {}:
            yield name


def docstring(text: str, indent: int) -> list[str]:
    """Return a docstring's lines."""
    return _docstring(text, indent)


def _docstring(text: str, indent: int) -> list[str]:
    space = " " * indent
    if not text:
        return []
    lines = text.replace("\\", "\\\\").split("\n")
    if len(lines) == 1:
        return [f'{space}"""{lines[0]}"""']
    rest = [f"{space}{line}" if line else "" for line in lines[1:]]
    return [f'{space}"""{lines[0]}', *rest, f'{space}"""']
