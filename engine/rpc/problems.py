"""Errors as RFC 9457 problem responses; no stack trace leaves the process."""

from collections.abc import Awaitable, Callable

import structlog
from aiohttp import web
from msgspec.json import encode

from engine.runtime.admission.node_selection import NoCapacity
from engine.runtime.shard.control_requests import RequestRejected
from engine.store.errors import StoreDown
from wire.decoding.errors import BadInput, InputErrors
from wire.error_codes.catalogue import code_of_status
from wire.error_codes.problems import coded_problem
from wire.rpc import FieldError, Problem

log = structlog.get_logger()
PROBLEM_TYPE = "application/problem+json"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class NotFound(Exception):
    """The caller has no resource with this id."""


class Conflict(Exception):
    """The state of the resource does not allow the operation."""

    def __init__(self, detail: str, code: str = "conflict") -> None:
        super().__init__(detail)
        self.code = code


def problem_response(problem: Problem, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(
        status=problem.status,
        body=encode(problem),
        content_type=PROBLEM_TYPE,
        headers=headers,
    )


class LimitReached(Exception):
    """An account has reached one of its limits, which the code names."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class Unavailable(Exception):
    """Something that the request needs does not respond."""


@web.middleware
async def problem_middleware(  # noqa: C901 - one branch per error type
    request: web.Request, handler: Handler
) -> web.StreamResponse:
    """Convert exceptions of handlers into problem responses."""
    try:
        return await handler(request)
    except InputErrors as error:
        return _invalid(error)
    except BadInput as error:
        errors = (FieldError(error.path, error.message, error.code),)
        return problem_response(coded_problem(400, error.code, str(error), errors))
    except NotFound as error:
        return problem_response(coded_problem(404, "not_found", str(error)))
    except Conflict as error:
        return problem_response(coded_problem(409, error.code, str(error)))
    except LimitReached as error:
        return problem_response(coded_problem(429, error.code, str(error)), {"Retry-After": "1"})
    except Unavailable as error:
        return problem_response(coded_problem(503, "unavailable", str(error)), {"Retry-After": "1"})
    except RequestRejected as error:
        return _rejected(error)
    except NoCapacity as error:
        retry_after = {"Retry-After": str(error.retry_after_s)}
        return problem_response(coded_problem(503, error.code, str(error)), retry_after)
    except StoreDown as error:
        log.warning("store down", path=request.path, error=str(error))
        return problem_response(
            coded_problem(503, "store_down", error.detail), {"Retry-After": "1"}
        )
    except web.RequestPayloadError as error:
        return problem_response(coded_problem(400, "invalid", str(error)))
    except web.HTTPException as error:
        return _of_server(error)
    except Exception:
        call = request.match_info.get("call")
        log.exception("rpc request failed", call_id=call, path=request.path)
        return problem_response(coded_problem(500, "internal"))


def _of_server(error: web.HTTPException) -> web.Response:
    """Return the response to a request that no operation has read."""
    headers = {name: error.headers[name] for name in ("Allow",) if name in error.headers}
    code = code_of_status(error.status)
    return problem_response(coded_problem(error.status, code, error.reason), headers)


def _invalid(error: InputErrors) -> web.Response:
    errors = tuple(FieldError(each.path, each.message, each.code) for each in error.errors)
    first = error.errors[0]
    detail = f"{first}, and {len(errors) - 1} more" if len(errors) > 1 else str(first)
    return problem_response(coded_problem(400, first.code, detail, errors))


def _rejected(error: RequestRejected) -> web.Response:
    rejection = error.rejection
    if rejection.kind == "missing":
        return problem_response(coded_problem(404, rejection.code, rejection.detail))
    return problem_response(coded_problem(409, rejection.code, rejection.detail))
