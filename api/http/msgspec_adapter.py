"""msgspec shapes in FastAPI: bodies decoded, responses encoded.

The engine's shapes are msgspec's, and its parser reports errors by their path. So each shape has
one definition, and a tree that is accepted here is one that the engine runs.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import msgspec
from fastapi import Request, Response

from wire.decoding import lenient
from wire.decoding.errors import BadInput, raise_errors
from wire.decoding.json_document import check_unique

T = TypeVar("T")


def json_body(shape: type[T], *, or_query: bool = False) -> Callable[[Request], Awaitable[T]]:
    """Return the dependency that reads a JSON body; of a GET without one, the query.

    Many clients cannot send a GET with a body (RFC 9110, section 9.3.1, advises against it).
    With `or_query` the query replaces a missing body for other methods, too. Beside a body, it may
    only repeat what that says.
    """

    async def read(request: Request) -> T:
        body = await request.body()
        has_query = or_query or request.method == "GET"
        if not body and has_query:
            found = from_query(request.query_params, shape)
        else:
            found = lenient.decode(body or b"{}", shape)
            check_unique(body)
            if has_query and request.query_params:
                _check_same(request.query_params, found)
        request.state.call_id = getattr(found, "call_id", None)  # for the audit trail
        return found

    return read


def _check_same(query: Mapping[str, str], body: object) -> None:
    """Raise an error for each parameter of the query that the body contradicts."""
    given = msgspec.to_builtins(body)
    both = msgspec.to_builtins(from_query({**given, **query}, type(body)))
    other = (name for name in query if both.get(name) != given.get(name))
    raise_errors([BadInput(name, "differs from the body's") for name in other])


def from_query(parameters: Mapping[str, str], shape: type[T]) -> T:
    """Convert query parameters to a shape; raises BadInput."""
    found: T = lenient.convert(dict(parameters), shape, strict=False)
    return found


def json_response(body: object, status: int = 200) -> Response:
    """Return a response with a value as JSON; bytes are JSON already."""
    content = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return Response(content, status, media_type="application/json")
