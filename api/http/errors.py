"""What goes wrong, told as RFC 9457 problems; no stack trace leaves the process."""

from collections.abc import Iterator, Mapping
from http.client import INTERNAL_SERVER_ERROR
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from wire.errors import BadInput, InputErrors
from wire.rpc import FieldError, Problem

TITLES = {
    400: "Invalid input",
    401: "User not authenticated",
    404: "Not found",
    409: "Wrong state",
    413: "Too large",
    429: "Too many requests",
    503: "Not now",
}


class ApiError(Exception):
    """A request that is not done, and why; the classes below say with which status."""

    status = 500
    code = "internal"

    def __init__(
        self,
        detail: str = "",
        code: str = "",
        *,
        errors: tuple[FieldError, ...] = (),
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or self.code
        self.errors = errors
        self.retry_after_s = retry_after_s


class InvalidRequest(ApiError):
    """The input can't be right."""

    status, code = 400, "invalid"


class Unauthenticated(ApiError):
    """Nobody that we know."""

    status, code = 401, "unauthenticated"


class NotFound(ApiError):
    """Nothing of the caller's has this id."""

    status, code = 404, "not_found"


class Conflict(ApiError):
    """It exists, but not in a state for that."""

    status, code = 409, "conflict"


class TooManyRequests(ApiError):
    """More than the caller may ask for in this time."""

    status, code = 429, "too_many"


class ServiceUnavailable(ApiError):
    """It would be done if something that we need were there."""

    status, code = 503, "unavailable"


def problem_response(
    status: int,
    code: str,
    detail: str = "",
    errors: tuple[FieldError, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Answer with a problem."""
    title = TITLES.get(status, "Refused" if status < INTERNAL_SERVER_ERROR else "Internal error")
    body = msgspec.json.encode(Problem(title, status, code, detail, errors))
    return Response(body, status, dict(headers or {}), "application/problem+json")


def register_error_handlers(app: FastAPI) -> None:
    """Let everything that is raised below become a problem."""
    app.exception_handler(ApiError)(_refused)
    app.exception_handler(BadInput)(_bad_input)
    app.exception_handler(InputErrors)(_faults)
    app.exception_handler(RequestValidationError)(_unread)
    app.exception_handler(HTTPException)(_http)
    app.exception_handler(ClientDisconnect)(_left)
    app.exception_handler(Exception)(_internal)


async def _refused(_request: Request, error: ApiError) -> Response:
    headers = {"WWW-Authenticate": "Bearer"} if error.status == Unauthenticated.status else {}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(error.retry_after_s)
    return problem_response(error.status, error.code, error.detail, error.errors, headers)


async def _bad_input(_request: Request, error: BadInput) -> Response:
    return problem_response(400, error.code, str(error), (FieldError(error.path, error.message),))


async def _faults(_request: Request, error: InputErrors) -> Response:
    faults = tuple(FieldError(each.path, each.message) for each in error.faults)
    return problem_response(400, InvalidRequest.code, str(error), faults)


async def _unread(request: Request, error: RequestValidationError) -> Response:
    faults = parameter_faults(error, request)
    detail = "; ".join(f"{each.path}: {each.message}" for each in faults)
    return problem_response(400, InvalidRequest.code, detail, faults)


async def _http(_request: Request, error: HTTPException) -> Response:
    code = NotFound.code if error.status_code == NotFound.status else f"http_{error.status_code}"
    return problem_response(error.status_code, code, str(error.detail), headers=error.headers)


async def _left(_request: Request, _error: ClientDisconnect) -> Response:
    return problem_response(400, "disconnected")  # nobody hears it; no fault of ours either


async def _internal(_request: Request, _error: Exception) -> Response:
    return problem_response(ApiError.status, ApiError.code)  # it is logged further outside


PARAMETER_SOURCES = frozenset({"body", "query", "path", "header", "cookie"})


def parameter_faults(error: RequestValidationError, request: Request) -> tuple[FieldError, ...]:
    """Name each parameter that is wrong, and what is allowed."""
    return tuple(FieldError(_path(each["loc"]), _told(each, request)) for each in error.errors())


def _told(fault: dict[str, Any], request: Request) -> str:
    if fault["type"] == "extra_forbidden":
        known = ", ".join(_parameters(request.scope["route"].dependant))
        return f"unknown parameter; one of {known}"
    return str(fault["msg"])


def _parameters(asked: Dependant) -> Iterator[str]:
    """Name what a route reads of a query, itself and by what it depends on."""
    for field in asked.query_params:
        shape = field.field_info.annotation
        if isinstance(shape, type) and issubclass(shape, BaseModel):
            yield from (each.alias or name for name, each in shape.model_fields.items())
        else:
            yield field.alias
    for each in asked.dependencies:
        yield from _parameters(each)


def _path(place: tuple[str | int, ...]) -> str:
    steps = place[1:] if place and place[0] in PARAMETER_SOURCES else place
    return ".".join(map(str, steps))
