"""Error responses: every error becomes an RFC 9457 problem; no stack trace leaves the process."""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from itertools import islice
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Route

from api.common.errors import ApiError, InvalidRequest, RangeNotSatisfiable, Unauthenticated
from wire.decoding.error_texts import REQUIRED, expected_range, expected_size, expected_types
from wire.decoding.errors import MAX_ERRORS, BadInput, InputErrors
from wire.error_codes.catalogue import code_of_status
from wire.error_codes.problems import coded_problem
from wire.rpc import FieldError

_LIMITS = {  # kinds of pydantic's errors, with the relation and the name of the limit
    "greater_than_equal": (">=", "ge"),
    "less_than_equal": ("<=", "le"),
    "string_too_short": (">=", "min_length"),
    "string_too_long": ("<=", "max_length"),
}
_BOUNDS = ((">=", "ge"), (">", "gt"), ("<=", "le"), ("<", "lt"))
PARAMETER_SOURCES = frozenset({"body", "query", "path", "header", "cookie"})


def problem_response(
    status: int,
    code: str,
    detail: str = "",
    errors: tuple[FieldError, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    body = msgspec.json.encode(coded_problem(status, code, detail, errors))
    return Response(body, status, dict(headers or {}), "application/problem+json")


def register_error_handlers(app: FastAPI) -> None:
    """Turn every exception that a route raises into a problem response."""
    app.exception_handler(ApiError)(_api_error)
    app.exception_handler(BadInput)(_bad_input)
    app.exception_handler(InputErrors)(_input_errors)
    app.exception_handler(RecursionError)(_too_deep)
    app.exception_handler(RequestValidationError)(_invalid_parameters)
    app.exception_handler(HTTPException)(_http_error)
    app.exception_handler(ClientDisconnect)(_disconnected)
    app.exception_handler(Exception)(_internal_error)


async def _api_error(_request: Request, error: ApiError) -> Response:
    headers = {"WWW-Authenticate": "Bearer"} if error.status == Unauthenticated.status else {}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, RangeNotSatisfiable) and error.content_range:
        headers["Content-Range"] = error.content_range
    return problem_response(error.status, error.code, error.detail, error.errors, headers)


async def _bad_input(_request: Request, error: BadInput) -> Response:
    field_error = FieldError(error.path, error.message, error.code)
    return problem_response(400, error.code, str(error), (field_error,))


async def _input_errors(_request: Request, error: InputErrors) -> Response:
    errors = tuple(FieldError(each.path, each.message, each.code) for each in error.errors)
    return problem_response(400, error.code, str(error), errors)


async def _too_deep(request: Request, _error: RecursionError) -> Response:
    """Reject a body that could be read, but is too deep to be passed on."""
    return await _bad_input(request, BadInput("", "nested too deep", "too_deep"))


async def _invalid_parameters(request: Request, error: RequestValidationError) -> Response:
    errors = parameter_errors(error, request)
    detail = "; ".join(f"{each.path}: {each.message}" for each in errors)
    return problem_response(400, InvalidRequest.code, detail, errors)


async def _http_error(request: Request, error: HTTPException) -> Response:
    code = code_of_status(error.status_code)
    headers = error.headers
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers = {"Allow": ", ".join(sorted(_methods(request)))}  # starlette's: of one route only
    return problem_response(error.status_code, code, str(error.detail), headers=headers)


def _methods(request: Request) -> set[str]:
    """Return the methods of all routes that have the path of a request."""
    routes = [each for each in request.app.router.routes if isinstance(each, Route)]
    found = [each for each in routes if each.matches(request.scope)[0] is not Match.NONE]
    return {method for each in found for method in each.methods or ()}


async def _disconnected(_request: Request, _error: ClientDisconnect) -> Response:
    return problem_response(400, "disconnected")  # never received; not an error of ours


async def _internal_error(_request: Request, _error: Exception) -> Response:
    return problem_response(ApiError.status, ApiError.code)  # RequestMiddleware logs it


def parameter_errors(error: RequestValidationError, request: Request) -> tuple[FieldError, ...]:
    """Return one error for each invalid parameter, with its path and what is allowed."""
    return tuple(
        FieldError(_path(each["loc"]), _message(each, request), InvalidRequest.code)
        for each in islice(error.errors(), MAX_ERRORS)
    )


def _message(error: dict[str, Any], request: Request) -> str:
    """Return the message of an invalid parameter in the words of `wire.decoding.error_texts`."""
    match error:
        case {"type": "extra_forbidden"}:
            known = ", ".join(dict(_query_parameters(request.scope["route"].dependant)))
            return f"unknown parameter; one of {known}"
        case {"type": "string_pattern_mismatch"}:
            return "contains characters that are not allowed here"
        case {"type": "missing"}:
            return REQUIRED
        case {"type": str(kind)} if kind in _LIMITS:
            sign, name = _LIMITS[kind]
            if kind.startswith("string_"):
                return expected_size("str", sign, error["ctx"][name])
            bounds = _bounds(request, str(error["loc"][-1]))
            return expected_range("int", *(bounds or [(sign, error["ctx"][name])]))
        case {"type": "literal_error", "ctx": {"expected": values}}:
            return f"expected {values}"
        case {"type": "value_error", "ctx": {"error": reason}}:
            return str(reason)
        case {"type": str(kind)} if kind.startswith("int_"):
            return expected_types("int")
        case _:
            return str(error["msg"])


def _bounds(request: Request, parameter: str) -> list[tuple[str, object]]:
    """Return the bounds of a number in the query; none if it is elsewhere."""
    field = dict(_query_parameters(request.scope["route"].dependant)).get(parameter)
    limits = field.metadata if field else []
    found = ((sign, getattr(each, name, None)) for sign, name in _BOUNDS for each in limits)
    return [(sign, bound) for sign, bound in found if bound is not None]


def _query_parameters(dependant: Dependant) -> Iterator[tuple[str, FieldInfo]]:
    """Yield a route's query parameters by name, those of its dependencies too."""
    for field in dependant.query_params:
        shape = field.field_info.annotation
        if isinstance(shape, type) and issubclass(shape, BaseModel):
            yield from ((each.alias or name, each) for name, each in shape.model_fields.items())
        else:
            yield field.alias, field.field_info
    for each in dependant.dependencies:
        yield from _query_parameters(each)


def _path(location: tuple[str | int, ...]) -> str:
    steps = location[1:] if location and location[0] in PARAMETER_SOURCES else location
    return ".".join(map(str, steps))
