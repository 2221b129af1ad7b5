"""Errors of requests to customers' servers, and their attempts."""

from aiohttp import ClientConnectionError, ClientPayloadError
from msgspec import Struct

from base.address_guard import is_address_refused
from base.http_client import failure_word


class Attempt(Struct, frozen=True):
    """One attempt, for the call's timeline: its duration, and the status (0: none)."""

    ms: int
    status: int = 0
    reason: str = ""  # empty: the response was valid


class WebhookFailed(Exception):
    """No valid response: a reason code, a readable detail, and all attempts.

    Reasons: connect, timeout, status_NNN, redirect, too_large, encoded, not_http, not_json,
    invalid_action, refused_address, bad_url. `retry_after` is from the last response.
    """

    def __init__(
        self,
        reason: str,
        detail: str,
        attempts: tuple[Attempt, ...],
        retry_after: str | None = None,
    ) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.attempts = attempts
        self.retry_after = retry_after


class AttemptFailed(Exception):
    """Why one attempt failed; a transient failure is retried, after the requested delay."""

    def __init__(
        self, reason: str, detail: str, *, transient: bool = False, retry_after: str | None = None
    ) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.is_transient = transient
        self.retry_after = retry_after


def classify_error(error: Exception) -> AttemptFailed:
    """Classify an exception of aiohttp; reports its kind only, never its text."""
    if is_address_refused(error):
        return AttemptFailed("refused_address", "not a public address")
    # Connection lost before the whole response: the request id makes a repetition harmless.
    if isinstance(error, ClientConnectionError | ClientPayloadError):
        return AttemptFailed("connect", failure_word(error), transient=True)
    if isinstance(error, ValueError):
        return AttemptFailed("bad_url", "the address cannot be used")
    return AttemptFailed("not_http", "not an HTTP response")
