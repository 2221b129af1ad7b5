"""Errors of the SDK: each names the field, and says what is allowed."""

from typing import NamedTuple


class SwitchroomError(Exception):
    """Base of all errors of the SDK."""


class InvalidField(SwitchroomError, ValueError):
    """A verb has a value that is not allowed; `field` is its path in the JSON."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message


class RelativeAddress(SwitchroomError, ValueError):
    """An address begins with `/`, and nothing says at which server it is."""

    def __init__(self, address: str) -> None:
        super().__init__(
            f"{address} is an address at your own server: set SWITCHROOM_PUBLIC_URL or public_url"
        )
        self.address = address


class VerificationFailed(SwitchroomError):
    """A request is not from Switchroom, or too old."""


class FieldError(NamedTuple):
    """One error in a request: the path of the field, what is wrong, and a code."""

    path: str
    message: str
    code: str = ""


class ConnectionFailed(SwitchroomError):
    """Switchroom did not respond, or not in time; `is_sent`: it may have got the request."""

    def __init__(self, message: str, *, is_sent: bool = True) -> None:
        super().__init__(message)
        self.is_sent = is_sent


class ApiError(SwitchroomError):
    """Switchroom rejected a request (RFC 9457).

    `type` is the address of the page of its code, at the server: `/docs/errors/call_ended`.
    """

    def __init__(  # noqa: PLR0913 - the fields of a problem
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: tuple[FieldError, ...] = (),
        request_id: str = "",
        retry_after_s: float | None = None,
        type: str = "about:blank",  # noqa: A002 - the name that RFC 9457 gives it
    ) -> None:
        fields = "; ".join(f"{each.path or 'body'}: {each.message}" for each in errors)
        super().__init__(f"{status} {code}: {fields or detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors
        self.request_id = request_id
        self.retry_after_s = retry_after_s
        self.type = type

    @property
    def field(self) -> str:
        """The path of the first field that is wrong; empty if the request as a whole is."""
        return self.errors[0].path if self.errors else ""
