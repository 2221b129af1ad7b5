"""What the messaging platform refuses, told as our problems.

Its errors have a code that says more than the HTTP status (its documentation, "Error codes"): what
is too much, what is the operator's to mend, what may pass, and what the request did wrong.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from api.common.errors import ApiError, InvalidRequest, ServiceUnavailable, TooManyRequests

TOO_MUCH = frozenset({4, 17, 32, 613, 80007, 80008, 130429, 131048, 131056, 133016})
NOT_LET_IN = frozenset({0, 3, 10, 190, 131005, *range(200, 300)})
MAY_PASS = frozenset({2, 131000, 131016})
MISSING = 2593002  # the subcode of a template that is not there
EXISTS = 2388024  # of a template whose name and language are taken
USAGE = "X-Business-Use-Case-Usage"
MINUTE_S, DAY_S = 60, 86_400
_SERVER_ERROR, _UNAUTHORIZED, _TOO_MANY = 500, 401, 429
MAX_DETAIL_CHARS = 1_000


class PlatformUnavailable(ServiceUnavailable):
    """The platform can't be reached, or does not answer as its documentation says."""

    code = "platform_down"

    def __init__(self, detail: str, *, may_be_done: bool, retry_after_s: int = 5) -> None:
        super().__init__(detail, retry_after_s=retry_after_s)
        self.may_be_done = may_be_done


class PlatformRejected(InvalidRequest):
    """The platform says that the request can't be right."""

    def __init__(self, detail: str, code: int, subcode: int | None) -> None:
        super().__init__(detail, f"platform_{code}")
        self.platform_code = code
        self.subcode = subcode


class Details(Struct, frozen=True):
    """What went wrong with a message."""

    details: str = ""


class PlatformError(Struct, frozen=True):
    """An error as the platform tells it."""

    message: str = ""
    code: int = 1
    error_subcode: int | None = None
    error_user_msg: str | None = None
    error_data: Details | str | None = None
    is_transient: bool = False
    fbtrace_id: str | None = None

    @property
    def text(self) -> str:
        """What a person is told, with all that the platform's support asks for."""
        data = self.error_data
        details = data.details if isinstance(data, Details) else data
        named = {"code": self.code, "subcode": self.error_subcode, "trace": self.fbtrace_id}
        numbers = ", ".join(f"{name} {each}" for name, each in named.items() if each is not None)
        said = self.error_user_msg or details or self.message or "no reason given"
        return f"{said[:MAX_DETAIL_CHARS]} (the messaging platform's {numbers})"


class _Answer(Struct, frozen=True):
    error: PlatformError


def to_error(status: int, answer: bytes, headers: Mapping[str, str]) -> ApiError:
    """Tell an answer that is no success as a problem."""
    try:
        error = msgspec.json.decode(answer, type=_Answer).error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        error = None
    if status == _TOO_MANY or (error and error.code in TOO_MUCH):
        text = error.text if error else "the messaging platform's limit is reached"
        return TooManyRequests(
            text, "platform_rate_limit", retry_after_s=_wait_s(headers, MINUTE_S)
        )
    if error is None:
        text = f"the messaging platform's answer is not understood (HTTP {status})"
        return PlatformUnavailable(text, may_be_done=status >= _SERVER_ERROR)
    if status == _UNAUTHORIZED or error.code in NOT_LET_IN:
        return ServiceUnavailable(
            f"the business account's token is refused: {error.text}", "platform_denied"
        )
    if status >= _SERVER_ERROR or error.is_transient or error.code in MAY_PASS:
        return PlatformUnavailable(error.text, may_be_done=True, retry_after_s=_wait_s(headers, 5))
    return PlatformRejected(error.text, error.code, error.error_subcode)


def _wait_s(headers: Mapping[str, str], default_s: int) -> int:
    """Read how long to wait: Retry-After, or the minutes that the usage header tells."""
    told = headers.get("Retry-After", "")
    if told.isascii() and told.isdecimal():
        return min(int(told[:9]), DAY_S)
    return min(_minutes(headers.get(USAGE, "{}")) * MINUTE_S or default_s, DAY_S)


def _minutes(usage: str) -> int:
    try:
        found: dict[str, list[dict[str, Any]]] = msgspec.json.decode(
            usage, type=dict[str, list[dict[str, Any]]]
        )
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return 0
    waits = (
        each.get("estimated_time_to_regain_access") for all_ in found.values() for each in all_
    )
    return max((wait for wait in waits if isinstance(wait, int)), default=0)
