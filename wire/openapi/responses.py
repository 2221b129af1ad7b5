"""Responses of an operation: of success, of each error status, and the schemas that both need."""

import inspect
from collections.abc import Collection
from http import HTTPStatus
from typing import Any, NamedTuple

from msgspec.json import schema_components

from wire.error_codes.problems import coded_problem


class Status(NamedTuple):
    """What the problems of a status have in common."""

    meaning: str
    codes: tuple[str, ...]
    detail: str  # of the example


STATUSES = {
    400: Status(
        "The request is invalid; `errors` names each field and what is allowed.",
        ("invalid", "too_deep", "too_large", "unknown_verb", "unknown_flow", "not_your_number"),
        "timeout: expected int >= 1",
    ),
    401: Status(
        "There is no valid key or token.",
        ("unauthenticated",),
        "User not authenticated",
    ),
    403: Status(
        "The key or token does not allow this.",
        ("forbidden", "scope", "agent", "networks"),
        "the key lacks the scope calls",
    ),
    404: Status("The account has no such thing.", ("not_found",), "no such call"),
    409: Status(
        "The state of the thing does not allow this.",
        (
            *("conflict", "call_ended", "already_a_party", "no_target", "in_flight", "processing"),
            *("not_answered", "not_in_conversation", "not_recorded", "response_not_kept"),
        ),
        "the call has ended",
    ),
    412: Status(
        "The thing is not the version that `If-Match` names.",
        ("changed_meanwhile",),
        "the resource is not the one that the request expects",
    ),
    413: Status("The body is too large.", ("too_large",), "at most 1048576 bytes"),
    416: Status("The file has no such range.", ("range",), "the file ends before"),
    429: Status(
        "A limit of the account is reached; `Retry-After` says when to try again.",
        ("too_many", "request_rate", "too_many_requests", "call_rate", "too_many_timelines"),
        "this account sends too many requests",
    ),
    503: Status(
        "Something that the request needs does not respond; try again.",
        ("unavailable", "no_engine", "store_down", "database_down", "no_node", "node_full"),
        "no engine responds",
    ),
}  # fmt: skip
_EXAMPLE_CODES = {409: "call_ended", 429: "request_rate", 503: "no_engine"}
_TYPE = "application/problem+json"
_RETRY_AFTER = {
    "Retry-After": {
        "description": "After how many seconds the same request may succeed.",
        "schema": {"type": "string"},
        "example": "1",
    }
}
_HEADERS = {
    401: {
        "WWW-Authenticate": {
            "description": "How to authenticate: with a bearer token.",
            "schema": {"type": "string"},
            "example": "Bearer",
        }
    },
    429: _RETRY_AFTER,
    503: _RETRY_AFTER,
}


def problem_responses(statuses: Collection[int], schema: Any) -> dict[str, Any]:
    """Return the error responses of an operation, whose body has this schema."""
    return {str(each): _response(each, schema) for each in sorted(statuses)}


def any_problem(schema: Any) -> dict[str, Any]:
    """Return the response of all other statuses."""
    content = {"schema": schema, "example": _example(503)}
    return {"description": "Another error (RFC 9457).", "content": {_TYPE: content}}


def _response(status: int, schema: Any) -> dict[str, Any]:
    found = STATUSES[status]
    codes = ", ".join(f"`{each}`" for each in found.codes)
    more = "Its code" if len(found.codes) == 1 else "Its codes include"
    response = {
        "description": f"{found.meaning} {more}: {codes}.",
        "content": {_TYPE: {"schema": schema, "example": _example(status)}},
    }
    return {**response, "headers": _HEADERS[status]} if status in _HEADERS else response


def _example(status: int) -> dict[str, Any]:
    found = STATUSES[status]
    code = _EXAMPLE_CODES.get(status, found.codes[0])
    problem = coded_problem(status, code, found.detail)
    return {
        "type": problem.type,
        "title": problem.title,
        "status": status,
        "code": code,
        "detail": problem.detail,
    }


Schema = dict[str, Any]
_REFS = "#/components/schemas/{name}"


class Components:
    """The components that describe some shapes; None among them is no shape."""

    def __init__(self, *shapes: Any) -> None:
        known = [each for each in shapes if each is not None]
        schemas, components = schema_components(known, ref_template=_REFS)
        self.schemas: dict[str, Schema] = _without_nulls(components)
        found = map(_without_nulls, schemas)
        self._by_shape: dict[str, Schema] = dict(zip(map(repr, known), found, strict=True))

    def of(self, shape: Any) -> Schema:
        """Return the schema of a shape, which may refer to components."""
        return self._by_shape[repr(shape)]


def _without_nulls(schema: Any) -> Any:
    """Remove defaults of null, which say no more than that the field may be missing."""
    match schema:
        case dict():
            return {name: _without_nulls(each) for name, each in schema.items() if each is not None}
        case list() | tuple():  # a tuple: the default of a field
            return [_without_nulls(each) for each in schema]
        case _:
            return schema


def success_response(status: int, shape: Any, components: Components) -> dict[str, Any]:
    """Return the response of success; without a shape it has no JSON body."""
    if shape is None:
        text = "Done; there is no body." if status == HTTPStatus.NO_CONTENT else "The content."
        return {"description": text}
    content = {"application/json": {"schema": components.of(shape)}}
    return {"description": _text_of(shape) or "The result.", "content": content}


def _text_of(shape: Any) -> str:
    """Return the first line of a shape's docstring."""
    return inspect.cleandoc(getattr(shape, "__doc__", None) or "").partition("\n")[0]
