"""What both generators read of a JSON Schema: names, options of a union, references, texts."""

import inspect
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, get_args

from wire.verbs import Verb

Schema = dict[str, Any]
VERBS = frozenset(each.__name__ for each in get_args(Verb))
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake(name: str) -> str:
    """Return a field's name as Python writes it."""
    found = _WORD.sub("_", name).replace("-", "_").lower()
    return f"{found}_" if found in {"from", "global", "class", "import"} else found


def camel(name: str) -> str:
    """Return what msgspec's `rename="camel"` makes of a name."""
    first, *rest = name.split("_")
    return first + "".join(each[:1].upper() + each[1:] for each in rest)


def pascal(name: str) -> str:
    """Return the name of a class for the words of a name."""
    return "".join(each[:1].upper() + each[1:] for each in re.split(r"[_.\-]", name))


def reference(schema: Schema) -> str | None:
    """Return the name that a schema refers to."""
    target = schema.get("$ref")
    return target.rpartition("/")[2] if isinstance(target, str) else None


def options(schema: Schema) -> list[Schema]:
    """Return the options of a union, flattened; one for any other schema."""
    if "anyOf" not in schema:
        return [schema]
    return [option for each in schema["anyOf"] for option in options(each)]


def is_null(schema: Schema) -> bool:
    return schema.get("type") == "null"


def enum_of(schema: Schema) -> list[str]:
    """Return the words that a schema names; none if it has others."""
    return [str(word) for each in options(schema) for word in each.get("enum", ()) if word]


def is_verb(schema: Schema) -> bool:
    """Whether a schema is a union of verbs, and perhaps more."""
    return {"Play", "Hangup"} <= {reference(each) for each in options(schema)}


def text_of(schema: Schema) -> str:
    """Return the description of a schema, without the indentation of its source."""
    return inspect.cleandoc(schema.get("description", ""))


def references(value: Any) -> Iterator[str]:
    """Yield the names of all components in a schema."""
    match value:
        case {"$ref": str(target)}:
            yield target.rpartition("/")[2]
        case dict():
            for key, each in value.items():
                if key != "discriminator":
                    yield from references(each)
        case list():
            for each in value:
                yield from references(each)


def reachable(
    names: Iterable[str], components: Mapping[str, Schema], opaque: Collection[str] = ()
) -> dict[str, Schema]:
    """Return the components with these names, and all that they refer to, in order of name."""
    found: set[str] = set()
    left = set(names)
    while left:
        name = left.pop()
        if name not in opaque:
            found.add(name)
            left |= set(references(components[name])) - found
    return {name: components[name] for name in sorted(found)}
