"""msgspec shapes in FastAPI: bodies decoded, responses encoded, both in the OpenAPI document.

The engine's shapes are msgspec's, and its parser reports errors by their path. So each shape has
one definition, and a tree that is accepted here is one that the engine runs.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, TypeVar

import msgspec
from fastapi import Request, Response
from msgspec.json import schema_components

from wire.decoding import lenient
from wire.rpc import Problem

T = TypeVar("T")
REFS = "#/components/schemas/{name}"
SCOPE = "x-scope"  # the OpenAPI document shows it as the operation's security
_ETAG = {
    "description": "The version; with `If-Match` a change is made to this version only.",
    "schema": {"type": "string"},
}
COMPONENTS = "x-components"  # the OpenAPI document moves them to its `components`


def json_body(shape: type[T], *, or_query: bool = False) -> Callable[[Request], Awaitable[T]]:
    """Return the dependency that reads a JSON body; of a GET without one, the query.

    Many clients cannot send a GET with a body (RFC 9110, section 9.3.1, advises against it).
    With `or_query` the query replaces a missing body for other methods, too.
    """

    async def read(request: Request) -> T:
        body = await request.body()
        if not body and (or_query or request.method == "GET"):
            found = from_query(dict(request.query_params), shape)
        else:
            found = lenient.decode(body or b"{}", shape)
        request.state.call_id = getattr(found, "call_id", None)  # for the audit trail
        return found

    return read


def from_query(parameters: Mapping[str, str], shape: type[T]) -> T:
    """Convert query parameters to a shape; raises BadInput."""
    found: T = lenient.convert(parameters, shape, strict=False)
    return found


def json_response(body: object, status: int = 200) -> Response:
    """Return a response with a value as JSON; bytes are JSON already."""
    content = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return Response(content, status, media_type="application/json")


def operation(  # noqa: PLR0913 - the parts of an OpenAPI operation
    *,
    body: Any,
    form: Mapping[str, Any] | None,
    query: tuple[str, ...],
    example: Any,
    response: Any,
    description: str,
    status: int,
    errors: Collection[int],
    scope: str | None,
    has_etag: bool,
) -> dict[str, Any]:
    """Return what the OpenAPI document says about an operation's body, query and responses."""
    shapes = [each for each in (body, response, Problem) if each is not None]
    schemas, components = schema_components(shapes, ref_template=REFS)
    refs = dict(zip(map(repr, shapes), schemas, strict=True))
    found: dict[str, Any] = {
        COMPONENTS: components,
        "responses": {
            str(status): _content(description, refs.get(repr(response))),
            **{str(each): _problem(refs[repr(Problem)]) for each in sorted(errors)},
        },
    }
    if scope is not None:
        found[SCOPE] = scope
    if has_etag:
        found["responses"][str(status)]["headers"] = {"ETag": _ETAG}
    if query:
        found["parameters"] = [
            {"name": name, "in": "query", "schema": {"type": "string"}} for name in query
        ]
    if form is not None:
        found["requestBody"] = {**form, "required": True}
    if body is not None:
        content: dict[str, Any] = {"schema": refs[repr(body)]}
        if example is not None:
            content["example"] = example
        found["requestBody"] = {"content": {"application/json": content}}
    return found


def _content(description: str, schema: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}} if schema else {}
    return {"description": description, "content": content}


def _problem(schema: Any) -> dict[str, Any]:
    content = {"application/problem+json": {"schema": schema}}
    return {"description": "Error (RFC 9457)", "content": content}
