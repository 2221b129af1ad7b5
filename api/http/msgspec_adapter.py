"""Shapes of msgspec in FastAPI's world: bodies read, answers written, both in the document.

The engine's own shapes are msgspec's, and its parser tells faults by their path: so there is one
definition of each, and a tree that is accepted here is one that runs.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec
from fastapi import Request, Response
from msgspec.json import schema_components

from wire.errors import BadInput, from_decoder
from wire.rpc import Problem

T = TypeVar("T")
REFS = "#/components/schemas/{name}"
COMPONENTS = "x-components"  # taken out again when the document is put together


def reading(shape: type[T], *, by_query: bool = False) -> Callable[[Request], Awaitable[T]]:
    """Give the dependency that reads a JSON body; without one, what the query of a GET says.

    Many clients can't send a GET with a body (RFC 9110, section 9.3.1, advises against it).
    With `by_query` that counts for other methods, too.
    """
    decoder = msgspec.json.Decoder(shape)

    async def read(request: Request) -> T:
        body = await request.body()
        if not body and (by_query or request.method == "GET"):
            return from_query(dict(request.query_params), shape)
        return decode(body or b"{}", decoder)

    return read


def decode(body: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Decode JSON; raises BadInput."""
    try:
        return decoder.decode(body)
    except msgspec.DecodeError as error:
        raise from_decoder(error, shape=decoder.type, given=body) from None
    except UnicodeDecodeError:
        raise BadInput("", "not UTF-8") from None
    except RecursionError:
        raise BadInput("", "nested too deep", "too_deep") from None


def from_query(words: Mapping[str, str], shape: type[T]) -> T:
    """Make a shape of words, as a query has them; raises BadInput."""
    try:
        return msgspec.convert(words, shape, strict=False)
    except msgspec.ValidationError as error:
        raise from_decoder(error, shape=shape, given=words) from None


def answer(body: object, status: int = 200) -> Response:
    """Answer with JSON."""
    return Response(msgspec.json.encode(body), status, media_type="application/json")


def described(  # noqa: PLR0913 - an operation has that many things to say
    summary: str,
    *,
    asked: Any = None,
    answered: Any = None,
    status: int = 200,
    statuses: tuple[int, ...] = (),
    example: Any = None,
    by_query: tuple[str, ...] = (),
    form: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Describe an operation for the document, as arguments of a route's decorator.

    `by_query` names fields of the body that the query may have instead; `form` is a body that is
    no JSON.
    """
    shapes = [each for each in (asked, answered, Problem) if each is not None]
    found, components = schema_components(shapes, ref_template=REFS)
    refs = dict(zip(map(repr, shapes), found, strict=True))
    extra: dict[str, Any] = {
        COMPONENTS: components,
        "responses": {
            str(status): _content(summary, refs.get(repr(answered))),
            **{str(each): _problem(refs) for each in sorted({400, *statuses})},
        },
    }
    if by_query:
        extra["parameters"] = [
            {"name": name, "in": "query", "schema": {"type": "string"}} for name in by_query
        ]
    if form is not None:
        extra["requestBody"] = {**form, "required": True}
    if asked is not None:
        body: dict[str, Any] = {"schema": refs[repr(asked)]}
        if example is not None:
            body["example"] = example
        extra["requestBody"] = {"content": {"application/json": body}}
    return {"summary": summary, "status_code": status, "openapi_extra": extra}


def _content(text: str, schema: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}} if schema else {}
    return {"description": text, "content": content}


def _problem(refs: Mapping[str, Any]) -> dict[str, Any]:
    schema = refs[repr(Problem)]
    content = {"application/problem+json": {"schema": schema}}
    return {"description": "What went wrong (RFC 9457)", "content": content}
