"""Maps the messaging platform's errors to ours.

An error's code says more than the HTTP status (its documentation, "Error codes"): a rate limit, a
configuration error, a transient error, or an invalid request.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from api.common.errors import ApiError, InvalidRequest, ServiceUnavailable, TooManyRequests

RATE_LIMIT_CODES = frozenset({4, 17, 32, 613, 80007, 80008, 130429, 131048, 131056, 133016})
AUTHENTICATION_CODES = frozenset({0, 3, 10, 190, 131005, *range(200, 300)})
TRANSIENT_CODES = frozenset({2, 131000, 131016})
MISSING = 2593002  # the subcode of a template that does not exist
EXISTS = 2388024  # the subcode of a name and language that are taken
USAGE = "X-Business-Use-Case-Usage"
MINUTE_S, DAY_S = 60, 86_400
_SERVER_ERROR, _UNAUTHORIZED, _TOO_MANY = 500, 401, 429
MAX_DETAIL_CHARS = 1_000


class PlatformUnavailable(ServiceUnavailable):
    """The platform can't be reached, or its response is not as documented."""

    code = "platform_down"

    def __init__(self, detail: str, *, may_be_done: bool, retry_after_s: int = 5) -> None:
        super().__init__(detail, retry_after_s=retry_after_s)
        self.may_be_done = may_be_done


class PlatformRejected(InvalidRequest):
    """The platform rejects the request."""

    def __init__(self, detail: str, code: int, subcode: int | None) -> None:
        super().__init__(detail, f"platform_{code}")
        self.platform_code = code
        self.subcode = subcode


class Details(Struct, frozen=True):
    """The details of an error."""

    details: str = ""


class PlatformError(Struct, frozen=True):
    """An error of the platform."""

    message: str = ""
    code: int = 1
    error_subcode: int | None = None
    error_user_msg: str | None = None
    error_data: Details | str | None = None
    is_transient: bool = False
    fbtrace_id: str | None = None

    @property
    def text(self) -> str:
        """The message for people, with the codes that the platform's support needs."""
        data = self.error_data
        details = data.details if isinstance(data, Details) else data
        codes = {"code": self.code, "subcode": self.error_subcode, "trace": self.fbtrace_id}
        numbers = ", ".join(f"{name} {each}" for name, each in codes.items() if each is not None)
        reason = self.error_user_msg or details or self.message or "no reason given"
        return f"{reason[:MAX_DETAIL_CHARS]} (the messaging platform's {numbers})"


class _ErrorResponse(Struct, frozen=True):
    error: PlatformError


def to_error(status: int, content: bytes, headers: Mapping[str, str]) -> ApiError:
    """Map an error response to an ApiError."""
    try:
        error = msgspec.json.decode(content, type=_ErrorResponse).error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        error = None
    if status == _TOO_MANY or (error and error.code in RATE_LIMIT_CODES):
        text = error.text if error else "the messaging platform's limit is reached"
        return TooManyRequests(
            text, "platform_rate_limit", retry_after_s=_wait_s(headers, MINUTE_S)
        )
    if error is None:
        text = f"the messaging platform's answer is not understood (HTTP {status})"
        return PlatformUnavailable(text, may_be_done=status >= _SERVER_ERROR)
    if status == _UNAUTHORIZED or error.code in AUTHENTICATION_CODES:
        return ServiceUnavailable(
            f"the business account's token is refused: {error.text}", "platform_denied"
        )
    if status >= _SERVER_ERROR or error.is_transient or error.code in TRANSIENT_CODES:
        return PlatformUnavailable(error.text, may_be_done=True, retry_after_s=_wait_s(headers, 5))
    return PlatformRejected(error.text, error.code, error.error_subcode)


def _wait_s(headers: Mapping[str, str], default_s: int) -> int:
    """Return when to retry: Retry-After, or the minutes in the usage header."""
    retry_after = headers.get("Retry-After", "")
    if retry_after.isascii() and retry_after.isdecimal():
        return min(int(retry_after[:9]), DAY_S)
    return min(_minutes(headers.get(USAGE, "{}")) * MINUTE_S or default_s, DAY_S)


def _minutes(usage: str) -> int:
    try:
        accounts: dict[str, list[dict[str, Any]]] = msgspec.json.decode(
            usage, type=dict[str, list[dict[str, Any]]]
        )
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return 0
    waits = (
        each.get("estimated_time_to_regain_access")
        for usages in accounts.values()
        for each in usages
    )
    return max((wait for wait in waits if isinstance(wait, int)), default=0)
