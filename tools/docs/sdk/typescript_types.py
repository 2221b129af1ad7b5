"""TypeScript source of interfaces, from JSON Schemas."""

import json
from collections.abc import Collection, Iterator, Mapping

from tools.docs.sdk.schema_reading import (
    VERBS,
    Schema,
    is_null,
    is_verb,
    options,
    reference,
    text_of,
)

OBJECT = "{ [name: string]: unknown }"  # `Record` is the name of a verb
SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


class TypeScriptTypes:
    """Writes types; `action` is how an action is written.

    `has_words`: a word is one of those that are known; else later versions may send others.
    """

    def __init__(
        self, *, has_words: bool, action: str = "Action", opaque: Collection[str] = ()
    ) -> None:
        self._has_words = has_words
        self._action = action
        self._opaque = opaque

    def written(self, schema: Schema) -> str:
        """Return the type of a schema."""
        found = options(schema)
        names = []
        rest = found
        if is_verb(schema):
            rest = [each for each in found if reference(each) not in VERBS]
            is_action = any(each.get("type") == "string" for each in rest)
            verb = self._action.replace("Action", "Verb")
            names.append(self._action if is_action else verb)
            rest = [each for each in rest if each.get("type") != "string"]
        names += [self._one(each) for each in rest if not is_null(each)]
        names += ["null"] if any(is_null(each) for each in found) else []
        return " | ".join(dict.fromkeys(names))

    def _one(self, schema: Schema) -> str:
        if (name := reference(schema)) is not None:
            return OBJECT if name in self._opaque else name
        if "enum" in schema:
            words = " | ".join(json.dumps(each) for each in schema["enum"])
            return words if self._has_words else f"Word<{words}>"
        match schema.get("type"):
            case "array":
                inner = self.written(schema.get("items", {}))
                return f"({inner})[]" if "|" in inner else f"{inner}[]"
            case "object":
                inner = schema.get("additionalProperties", True)
                value = self.written(inner) if isinstance(inner, dict) else "unknown"
                return f"{{ [name: string]: {value} }}"
            case str(name):
                return SCALARS[name]
            case _:
                return "unknown"

    def interface(self, name: str, schema: Schema) -> Iterator[str]:
        """Yield the source of an interface."""
        yield from comment(text_of(schema), 0)
        yield f"export interface {name} {{"
        required = set(schema.get("required", ()))
        for field, each in schema.get("properties", {}).items():
            yield from self.member(field, each, is_required=field in required)
        yield "}"

    def member(self, name: str, schema: Schema, *, is_required: bool) -> Iterator[str]:
        """Yield the source of a field."""
        yield from comment(_described(schema), 2)
        if name == "type" and schema.get("enum") and len(schema["enum"]) == 1:
            yield f'  type: "{schema["enum"][0]}";'
        else:
            yield f"  {key_of(name)}{'' if is_required else '?'}: {self.written(schema)};"


def interfaces(components: Mapping[str, Schema], types: TypeScriptTypes) -> Iterator[str]:
    """Yield the interfaces of components."""
    for name, schema in components.items():
        yield from types.interface(name, schema)
        yield ""


def key_of(name: str) -> str:
    """Return a name as a key of an object."""
    return name if name.replace("_", "a").isalnum() else json.dumps(name)


def comment(text: str, indent: int) -> Iterator[str]:
    """Yield a documentation comment."""
    space = " " * indent
    lines = text.replace("*/", "* /").split("\n") if text else []
    if len(lines) == 1:
        yield f"{space}/** {lines[0]} */"
    elif lines:
        yield f"{space}/**"
        yield from (f"{space} * {line}".rstrip() for line in lines)
        yield f"{space} */"


def _described(schema: Schema) -> str:
    """Return a field's text, with its default and limits."""
    parts = [text_of(schema)] if text_of(schema) else []
    found = [each for each in options(schema) if not is_null(each)]
    limits = [
        f"{words} {each[key]}"
        for each in found
        for key, words in (
            ("minimum", "at least"),
            ("maximum", "at most"),
            ("minLength", "length at least"),
            ("maxLength", "length at most"),
        )
        if key in each
    ]
    if limits:
        parts.append("; ".join(dict.fromkeys(limits)) + ".")
    default = schema.get("default")
    if default not in (None, {}, []):
        parts.append(f"Default: {json.dumps(default)}.")
    text = " ".join(parts)
    return text[:1].upper() + text[1:]
