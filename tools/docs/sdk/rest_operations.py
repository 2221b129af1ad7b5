"""The REST operations of the SDKs, as read from the OpenAPI document."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tools.docs.sdk.operations import OPERATIONS, Named
from tools.docs.sdk.schema_reading import (
    Schema,
    is_verb,
    options,
    reachable,
    reference,
    references,
)
from tools.docs.sdk.sources import rest_document, verb_schemas

_COMPONENTS = "x-components"
_JSON = "application/json"
OPAQUE = frozenset({"FlowDocument"})  # documents of customers, as they are


class Field(NamedTuple):
    """A field of a body, or a parameter of the query or the path."""

    name: str
    schema: Schema
    is_required: bool
    is_sent_empty: bool = False  # the server requires it, and an empty text means none


class Operation(NamedTuple):
    """What an SDK knows of an operation."""

    resource: str
    method: str
    verb: str
    path: str
    summary: str
    description: str
    in_path: tuple[Field, ...]
    body: tuple[Field, ...]
    body_name: str | None
    is_document: bool
    query: tuple[Field, ...]
    result: str | None
    item: str | None
    is_idempotent: bool
    has_version: bool

    @property
    def is_list(self) -> bool:
        """Whether the result is a page of rows."""
        return self.item is not None


class RestApi(NamedTuple):
    """All operations, and the components that they name."""

    operations: tuple[Operation, ...]
    components: dict[str, Schema]

    def resources(self) -> dict[str, list[Operation]]:
        """Return the operations by resource."""
        found: dict[str, list[Operation]] = {}
        for each in self.operations:
            found.setdefault(each.resource, []).append(each)
        return found

    def results(self) -> dict[str, Schema]:
        """Return the components of results."""
        names = {each.result for each in self.operations if each.result}
        return reachable(names, self._without_verbs(), OPAQUE)

    def _without_verbs(self) -> dict[str, Schema]:
        """Return the components; trees in results are any JSON, as later versions have more."""
        return {name: _without_verbs(each) for name, each in self.components.items()}

    def arguments(self) -> dict[str, Schema]:
        """Return the components in fields of bodies."""
        fields = [field.schema for each in self.operations for field in each.body]
        documents = {each.body_name for each in self.operations if each.is_document}
        names = {name for schema in fields for name in references(schema)}
        found = reachable(names - documents, self.components)
        return {name: each for name, each in found.items() if name not in verb_schemas()[2]}


def _without_verbs(schema: Any) -> Any:
    match schema:
        case {"anyOf": _} if is_verb(schema):
            kept = [each for each in options(schema) if reference(each) is None]
            return {**schema, "anyOf": [*kept, {"type": "object"}]}
        case dict():
            return {key: _without_verbs(each) for key, each in schema.items()}
        case list():
            return [_without_verbs(each) for each in schema]
        case _:
            return schema


def rest_api() -> RestApi:
    """Read the operations of the SDKs from the OpenAPI document."""
    document = rest_document()
    components: dict[str, Schema] = {}
    found = []
    for named in OPERATIONS:
        operation = document["paths"][named.path][named.method.lower()]
        own = operation.get(_COMPONENTS, {})
        differing = [each for each in own if components.get(each, own[each]) != own[each]]
        if differing:
            raise ValueError(f"{named.name}: other components have the same names: {differing}")
        components |= own
        found.append(_operation(named, operation, own))
    return RestApi(tuple(found), components)


def _operation(named: Named, operation: Mapping[str, Any], components: Any) -> Operation:
    resource, _, method = named.name.partition(".")
    parameters = operation.get("parameters", ())
    headers = {each["name"].lower() for each in parameters if each["in"] == "header"}
    body = operation.get("requestBody", {}).get("content", {}).get(_JSON, {}).get("schema", {})
    body_name = reference(body)
    in_path = tuple(_parameters(parameters, "path"))
    result = _result(operation["responses"])
    return Operation(
        resource=resource,
        method=method,
        verb=named.method,
        path=named.path,
        summary=operation["summary"],
        description=operation.get("description", ""),
        in_path=in_path,
        body=()
        if named.is_document or body_name is None
        else tuple(_body_fields(components[body_name], {each.name for each in in_path})),
        body_name=body_name,
        is_document=named.is_document,
        query=tuple(_parameters(parameters, "query")),
        result=result,
        item=_item(components[result]) if result else None,
        is_idempotent="idempotency-key" in headers,
        has_version="if-match" in headers,
    )


def _parameters(parameters: Any, place: str) -> Iterator[Field]:
    for each in parameters:
        if each["in"] == place:
            schema = {**each["schema"], "description": each.get("description", "")}
            name, is_needed = each["name"], each.get("required", False)
            is_empty = place == "query" and is_needed and schema.get("minLength", 0) == 0
            is_sent_empty = is_empty and schema.get("type") == "string"
            yield Field(name, schema, is_needed and not is_sent_empty, is_sent_empty)


def _body_fields(schema: Schema, in_path: set[str]) -> Iterator[Field]:
    required = set(schema.get("required", ()))
    fields = [
        Field(name, each, name in required)
        for name, each in schema.get("properties", {}).items()
        if name not in in_path
    ]
    yield from sorted(fields, key=lambda each: not each.is_required)


def _result(responses: Mapping[str, Any]) -> str | None:
    for status, response in responses.items():
        if status.startswith("2"):
            return reference(response.get("content", {}).get(_JSON, {}).get("schema", {}))
    return None


def _item(schema: Schema) -> str | None:
    """Return the name of a page's rows; None: the result is no page."""
    data = schema.get("properties", {}).get("data", {})
    if reference(schema.get("properties", {}).get("total", {})):  # sums of the rows
        return None
    return reference(data.get("items", {})) if data.get("type") == "array" else None
