"""msgspec shapes in FastAPI: bodies decoded, responses encoded.

The engine's shapes are msgspec's, and its parser reports errors by their path. So each shape has
one definition, and a tree that is accepted here is one that the engine runs.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import msgspec
from fastapi import Request, Response

from wire.decoding import lenient

T = TypeVar("T")


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
