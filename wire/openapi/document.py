"""What makes an OpenAPI document whole: descriptions, examples, and portable patterns."""

from collections.abc import Iterator, Mapping
from importlib.metadata import metadata
from typing import Any, NamedTuple

from wire.decoding.patterns import END
from wire.openapi.enums import name_enums
from wire.openapi.examples import example_of
from wire.openapi.texts.calls import CALLS
from wire.openapi.texts.contacts import CONTACTS
from wire.openapi.texts.documents import DOCUMENTS
from wire.openapi.texts.names import NAMES
from wire.openapi.texts.operations import OPERATIONS
from wire.openapi.texts.records import RECORDS

TEXTS: Mapping[str, str] = {**CALLS, **RECORDS, **DOCUMENTS, **CONTACTS, **OPERATIONS, **NAMES}


class Tag(NamedTuple):
    """A group of operations."""

    name: str
    description: str

    def document(self) -> dict[str, str]:
        return {"name": self.name, "description": self.description}


def info(title: str, description: str) -> dict[str, Any]:
    """Return the document's `info`, of the installed version."""
    package = metadata("switchroom")
    return {
        "title": title,
        "version": package["Version"],
        "description": description,
        "contact": {"name": "The operator of this server"},
        "license": {"name": "Apache 2.0", "identifier": package["License-Expression"]},
    }


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """Add descriptions and examples where they are missing; name enums; make patterns portable."""
    found: dict[str, Any] = portable(document)
    components = found["components"]["schemas"]
    for name, schema in [*components.items()]:
        _complete_fields(schema, name, components)
    for operation in operations(found):
        if not operation.get("description"):
            operation["description"] = f"{operation['summary']}."
        noun = operation["operationId"].partition(".")[0]
        for each in operation.get("parameters", ()):
            _describe(each, noun, each["name"])
            each["schema"] = _plain(each["schema"], noun, each["name"], components)
        for content in _bodies(operation):
            _complete_fields(content.get("schema", {}), noun, components)
            if "example" not in content and "examples" not in content and content.get("schema"):
                content["example"] = example_of(content["schema"], components)
    return found


def described(components: Mapping[str, Any]) -> dict[str, Any]:
    """Return schemas by name with the descriptions of their fields."""
    found = {name: {**schema} for name, schema in components.items()}
    for name, schema in found.items():
        if "properties" in schema:
            fields = {field: {**each} for field, each in schema["properties"].items()}
            for field, each in fields.items():
                _describe(each, name, field)
            schema["properties"] = fields
    return found


def operations(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield all operations, those of webhooks too."""
    for items in (document["paths"], document.get("webhooks", {})):
        for item in items.values():
            yield from item.values()


def _complete_fields(schema: dict[str, Any], shape: str, components: dict[str, Any]) -> None:
    properties = schema.get("properties", {})
    for field, each in properties.items():
        _describe(each, shape, field)
        properties[field] = _plain(each, shape, field, components)


def _plain(schema: Any, shape: str, field: str, components: dict[str, Any]) -> Any:
    """Return a field's schema without pydantic's title, which is the name again."""
    named = name_enums(schema, shape, field, components)
    return {key: each for key, each in named.items() if key != "title"}


def _describe(described: dict[str, Any], shape: str, field: str) -> None:
    text = TEXTS.get(f"{shape}.{field}") or TEXTS.get(field)
    if text is not None:
        described.setdefault("description", text)


def _bodies(operation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the bodies of the request and of responses of success."""
    parts = [operation.get("requestBody", {})]
    parts += [each for status, each in operation["responses"].items() if status.startswith("2")]
    yield from (content for each in parts for content in each.get("content", {}).values())


def portable(schema: Any) -> Any:
    r"""Return a document with patterns as they are published.

    Inside, a pattern ends in `$(?!\n)`, because Python's `$` accepts a trailing line feed. The `$`
    of JSON Schema (ECMA 262), RE2 and Rust does not, and RE2 knows no lookahead: without the
    lookahead the pattern means the same there.
    """
    match schema:
        case dict():
            return {name: _portable_field(name, each) for name, each in schema.items()}
        case list():
            return [portable(each) for each in schema]
        case _:
            return schema


def _portable_field(name: str, value: Any) -> Any:
    if name == "pattern" and isinstance(value, str) and value.endswith(END):
        return value.removesuffix(END) + "$"
    return portable(value)
