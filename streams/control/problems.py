"""Who may use a gateway, and errors as RFC 9457 problem responses."""

import hmac
from collections.abc import Awaitable, Callable, Collection

import msgspec
import structlog
from aiohttp import web
from aiohttp.typedefs import Middleware

from streams.control.table import NoRoom
from wire.decoding.errors import BadInput, InputErrors
from wire.error_codes.catalogue import code_of_status
from wire.error_codes.problems import coded_problem
from wire.rpc import FieldError

log = structlog.get_logger()
PROBLEM_TYPE = "application/problem+json"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def problem(
    status: int,
    code: str,
    detail: str = "",
    errors: tuple[FieldError, ...] = (),
    headers: dict[str, str] | None = None,
) -> web.Response:
    """Return a problem response."""
    return web.Response(
        status=status,
        body=msgspec.json.encode(coded_problem(status, code, detail, errors)),
        content_type=PROBLEM_TYPE,
        headers=headers,
    )


def authentication(tokens: Collection[str], open_paths: Collection[str]) -> Middleware:
    """Return the middleware that answers requests without a token with 401."""
    bearers = [f"Bearer {token}".encode() for token in tokens]

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").encode(errors="surrogateescape")
        # Every token is compared, so that the time does not show which one is similar.
        found = [each for each in bearers if hmac.compare_digest(given, each)]
        if found or request.path in open_paths:
            return await handler(request)
        log.warning("request denied", address=request.remote, status=401, route="streams")
        headers = {"WWW-Authenticate": "Bearer"}
        return problem(401, "unauthenticated", "wrong or no bearer token", headers=headers)

    return check


@web.middleware
async def problems(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Convert exceptions of handlers into problem responses."""
    try:
        return await handler(request)
    except InputErrors as error:
        errors = tuple(FieldError(each.path, each.message, each.code) for each in error.errors)
        return problem(400, error.errors[0].code, str(error.errors[0]), errors)
    except BadInput as error:
        errors = (FieldError(error.path, error.message, error.code),)
        return problem(400, error.code, str(error), errors)
    except NoRoom as error:
        return problem(503, "unavailable", str(error), headers={"Retry-After": "1"})
    except web.RequestPayloadError as error:
        return problem(400, "invalid", str(error))
    except web.HTTPException as error:
        headers = {name: error.headers[name] for name in ("Allow",) if name in error.headers}
        return problem(error.status, code_of_status(error.status), error.reason, headers=headers)
    except ConnectionError:
        return web.Response()  # nobody gets it: who has sent the request is gone
    except Exception:
        log.exception("gateway request failed", path=request.path)
        return problem(500, "internal")
