"""What the OpenAPI document says about an operation, from the options of its route."""

from collections.abc import Collection, Mapping
from typing import Any, Required, TypedDict

from fastapi import Response

from api.http.body_limit import BodySize
from api.http.paging import has_pages
from wire.openapi.responses import Components, problem_responses, success_response
from wire.rpc import Problem

ANY_SCOPE = "any"  # of an operation that every authenticated caller may use
SCOPE = "x-scope"  # the OpenAPI document shows it as the operation's security
COMPONENTS = "x-components"  # the OpenAPI document moves them to its `components`
ALIAS_OF = "x-alias-of"  # the id of the operation that this is another path of
_ETAG = {
    "description": "The version; with `If-Match` a change is made to this version only.",
    "schema": {"type": "string"},
}
_LINK = {
    "description": 'The next page, with `rel="next"` (RFC 8288); the last page has none.',
    "schema": {"type": "string"},
    "example": '</srmain/voice/calls?limit=10&offset=10>; rel="next"',
}
_RATE_LIMIT = {
    "RateLimit-Policy": {
        "description": "How many requests (`q`) the account may send at once, and in how many"
        " seconds (`w`) as many again.",
        "schema": {"type": "string"},
        "example": '"requests";q=400;w=2',
    },
    "RateLimit": {
        "description": "How many requests are left (`r`), and after how many seconds (`t`) without"
        " a request all are.",
        "schema": {"type": "string"},
        "example": '"requests";r=399;t=1',
    },
}


class Options(TypedDict, total=False):
    """What a route says beside its path and its handler."""

    id: Required[str]  # of the operation: a noun and a verb, the method's name in clients
    alias_of: str  # the operation that this is another path of
    scope: str  # that the caller needs
    summary: str  # instead of the docstring's
    accepts: Any  # shape of the body, where the handler reads the request itself
    form: Mapping[str, Any]  # schema of a multipart body
    body_size: BodySize  # limit of the body, if not the usual one
    query: tuple[str, ...]  # fields of the body that the query may hold instead
    example: Any  # of the body
    returns: Any  # shape of the response, where the handler returns bytes
    status: int  # of success
    errors: tuple[int, ...]  # other statuses than 400, 401, 403 and 429
    idempotent: bool
    has_secret: bool  # the response has one
    has_etag: bool  # the response has one
    has_file: bool  # it is one, and HEAD is answered, too
    response_class: type[Response]


def document_operation(
    options: Options, method: str, *, shape: Any, response: Any, errors: Collection[int]
) -> dict[str, Any]:
    """Return the extra parts of an operation, in addition to those that FastAPI finds."""
    body = None if method == "GET" else shape
    components = Components(body, response, Problem)
    in_query = _query_parameters(shape, options.get("query", ()), is_needed=method == "GET")
    status = options.get("status", 200)
    success = success_response(status, response, components)
    found: dict[str, Any] = {
        COMPONENTS: components.schemas,
        "responses": {
            str(status): success,
            **problem_responses(errors, components.of(Problem)),
        },
    }
    if (scope := options.get("scope")) is not None:
        found[SCOPE] = scope
    if (alias_of := options.get("alias_of")) is not None:
        found[ALIAS_OF] = alias_of
    headers = {
        **({"ETag": _ETAG} if options.get("has_etag") else {}),
        **({"Link": _LINK} if has_pages(response) else {}),
        **(_RATE_LIMIT if options.get("scope") else {}),
    }
    if headers:
        success["headers"] = headers
    if in_query:
        found["parameters"] = in_query
    if (form := options.get("form")) is not None:
        found["requestBody"] = {**form, "required": True}
    if body is not None:
        content: dict[str, Any] = {"schema": components.of(body)}
        if (example := options.get("example")) is not None:
            content["example"] = example
        found["requestBody"] = {"content": {"application/json": content}}
    return found


def _query_parameters(
    shape: Any, names: Collection[str], *, is_needed: bool
) -> list[dict[str, Any]]:
    """Return the parameters of a query that may hold the fields of a body."""
    if not names:
        return []
    components = Components(shape)
    whole = components.schemas[components.of(shape)["$ref"].rpartition("/")[2]]
    return [
        {
            "name": name,
            "in": "query",
            "required": is_needed and name in whole.get("required", ()),
            "schema": whole["properties"][name],
        }
        for name in names
    ]
