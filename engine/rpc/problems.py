"""What goes wrong, told as RFC 9457 problems; no stack trace leaves the process."""

from collections.abc import Awaitable, Callable

import structlog
from aiohttp import web
from msgspec.json import encode

from engine.runtime.admission.placement import NoCapacity
from engine.runtime.shard.commit_ack import RequestRejected
from engine.store.errors import StoreDown
from wire.errors import BadInput, InputErrors
from wire.rpc import FieldError, Problem

log = structlog.get_logger()
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class NotFound(Exception):
    """Nothing of the caller's has this id."""


class Conflict(Exception):
    """It exists, but not in a state for that."""

    def __init__(self, detail: str, code: str = "conflict") -> None:
        super().__init__(detail)
        self.code = code


def problem_response(problem: Problem, headers: dict[str, str] | None = None) -> web.Response:
    """Answer with a problem."""
    return web.Response(
        status=problem.status,
        body=encode(problem),
        content_type="application/problem+json",
        headers=headers,
    )


@web.middleware
async def problem_middleware(  # noqa: C901 - one line for each kind of trouble
    request: web.Request, handler: Handler
) -> web.StreamResponse:
    """Turn what handlers raise into problems."""
    try:
        return await handler(request)
    except BadInput as error:
        fault = FieldError(error.path, error.message)
        return problem_response(Problem("Invalid input", 400, error.code, str(error), (fault,)))
    except InputErrors as error:
        return _faulty(error)
    except NotFound as error:
        return problem_response(Problem("Not found", 404, "not_found", str(error)))
    except Conflict as error:
        return problem_response(Problem("Wrong state", 409, error.code, str(error)))
    except RequestRejected as error:
        return _refused(error)
    except NoCapacity as error:
        again = {"Retry-After": str(error.retry_after_s)}
        return problem_response(Problem("Not now", 503, error.code, str(error)), again)
    except StoreDown as error:
        return problem_response(
            Problem("Not now", 503, "store_down", str(error)), {"Retry-After": "1"}
        )
    except web.RequestPayloadError as error:
        return problem_response(Problem("Invalid input", 400, "invalid", str(error)))
    except web.HTTPException as error:
        return problem_response(Problem(error.reason, error.status, f"http_{error.status}"))
    except Exception:
        call = request.match_info.get("call")
        log.exception("rpc failed", call_id=call, path=request.path)
        return problem_response(Problem("Internal error", 500, "internal"))


def _faulty(error: InputErrors) -> web.Response:
    faults = tuple(FieldError(each.path, each.message, each.code) for each in error.errors)
    first = error.errors[0]
    detail = f"{first}, and {len(faults) - 1} more" if len(faults) > 1 else str(first)
    return problem_response(Problem("Invalid input", 400, first.code, detail, faults))


def _refused(error: RequestRejected) -> web.Response:
    refusal = error.rejection
    if refusal.kind == "missing":
        return problem_response(Problem("Not found", 404, refusal.code, refusal.detail))
    return problem_response(Problem("Wrong state", 409, refusal.code, refusal.detail))
