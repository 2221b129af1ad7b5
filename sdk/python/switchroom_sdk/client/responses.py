"""Reads responses: a value of the expected type, or an ApiError with the problem's code."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from switchroom_sdk.bodies import UNREADABLE
from switchroom_sdk.errors import ApiError, FieldError

T = TypeVar("T")


def read_response(
    status: int, headers: Mapping[str, str], content: bytes, kind: type[T] | None
) -> T:
    """Return the body of a successful response, as it is for `bytes`; raises ApiError."""
    if not 200 <= status < 300:  # noqa: PLR2004 - RFC 9110, section 15.3
        raise _error(status, headers, content)
    try:
        if kind is bytes:
            return content  # type: ignore[return-value]  # of the type in `kind`
        found: Any = None if kind is None else msgspec.json.decode(content, type=kind)
    except UNREADABLE as error:
        text = f"the response is none of this API: {error}"
        raise ApiError(status, "invalid_response", text) from None
    return found  # type: ignore[no-any-return]  # of the type in `kind`, or None


def _error(status: int, headers: Mapping[str, str], content: bytes) -> ApiError:
    try:
        problem = msgspec.json.decode(content, type=dict[str, Any])
    except UNREADABLE:
        problem = {}
    return ApiError(
        status,
        str(problem.get("code") or f"http_{status}"),
        str(problem.get("detail") or problem.get("title") or "no details"),
        errors=_field_errors(problem.get("errors")),
        request_id=headers.get("x-request-id", ""),
        retry_after_s=_seconds(headers.get("retry-after")),
        type=str(problem.get("type") or "about:blank"),
    )


def _field_errors(found: Any) -> tuple[FieldError, ...]:
    """Return the errors of fields; a gateway before the server may have a form of its own."""
    rows = found if isinstance(found, list) else ()
    return tuple(
        FieldError(
            str(each.get("path", "")), str(each.get("message", "")), str(each.get("code", ""))
        )
        for each in rows
        if isinstance(each, dict)
    )


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isascii() and text.isdigit() else None
