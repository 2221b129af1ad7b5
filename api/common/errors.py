"""Errors that a request ends with; `api.http.problems` turns each into an RFC 9457 problem."""

from wire.rpc import FieldError


class ApiError(Exception):
    """A request that is rejected; the classes below set the HTTP status and the default code."""

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
    status, code = 400, "invalid"


class Unauthenticated(ApiError):
    status, code = 401, "unauthenticated"


class Forbidden(ApiError):
    """The key or token does not grant this."""

    status, code = 403, "forbidden"


class NotFound(ApiError):
    """No resource of the account has this id."""

    status, code = 404, "not_found"


class Conflict(ApiError):
    """The state of the resource does not allow the operation."""

    status, code = 409, "conflict"


class PreconditionFailed(ApiError):
    """The resource has changed since it was read."""

    status, code = 412, "changed_meanwhile"


class RangeNotSatisfiable(ApiError):
    """The resource has no such part; `Content-Range` says how long it is (RFC 9110, 14.4)."""

    status, code = 416, "range"
    content_range = ""


class TooManyRequests(ApiError):
    status, code = 429, "too_many"


class ServiceUnavailable(ApiError):
    """A service that the request needs (database, engine) does not respond."""

    status, code = 503, "unavailable"
