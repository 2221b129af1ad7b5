"""msgspec shapes in FastAPI: bodies decoded, responses encoded.

The engine's shapes are msgspec's, and its parser reports errors by their path. So each shape has
one definition, and a tree that is accepted here is one that the engine runs.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import msgspec
from fastapi import Request, Response
from msgspec import Struct

from wire.decoding import lenient
from wire.decoding.errors import BadInput, raise_errors
from wire.decoding.json_errors import NOT_JSON, check_unique
from wire.listeners import CallId

T = TypeVar("T")
MAX_REFUSED_BYTES = 16_384  # of a refused request's body that is read for the audit trail


class NamedCall(Struct, frozen=True, rename="camel"):
    """The call that a request names, among other fields."""

    call_id: CallId | None = None


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
            async with request.state.cost.costly_step():  # many bodies may have arrived meanwhile
                found = lenient.decode(body or b"{}", shape)
                check_unique(body)
            if has_query and request.query_params:
                _check_same(request.query_params, found)
        request.state.call_id = getattr(found, "call_id", None)  # for the audit trail
        return found

    return read


async def note_call(request: Request) -> None:
    """Note the call that a refused request names, for the audit trail.

    The rest of its body is neither converted nor checked, and a large one is not read.
    """
    try:
        if request.headers.get("Content-Length", "0") == "0":
            found = msgspec.convert(dict(request.query_params), NamedCall)
        elif _is_small(request.headers["Content-Length"]):
            found = msgspec.json.decode(await request.body(), type=NamedCall)
        else:
            return
    except NOT_JSON:
        return
    request.state.call_id = found.call_id


def _is_small(length: str) -> bool:
    is_number = length.isascii() and length.isdigit() and len(length) <= len(str(MAX_REFUSED_BYTES))
    return is_number and int(length) <= MAX_REFUSED_BYTES


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
