"""Why a webhook gave nothing usable, and what was tried."""

from aiohttp import ClientConnectionError, ClientPayloadError
from msgspec import Struct

from engine.webhooks.address_guard import is_address_refused


class Attempt(Struct, frozen=True):
    """One try, for the call's timeline: how long it took, the status if there was one (else 0)."""

    ms: int
    status: int = 0
    reason: str = ""  # empty: it was answered usably


class WebhookFailed(Exception):
    """No action came: a reason in one word, a detail for people, and all tries.

    Reasons: connect, timeout, status_NNN, redirect, too_large, encoded, not_http, not_json,
    invalid_action, refused_address, bad_url. `retry_after` is what the server asked for at last.
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
    """Why one try failed; a passing one is worth another, after what the server asked for."""

    def __init__(
        self, reason: str, detail: str, *, passing: bool = False, retry_after: str | None = None
    ) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.is_transient = passing
        self.retry_after = retry_after


def classify_error(error: Exception) -> AttemptFailed:
    """Classify what aiohttp raised; only the kind of error is told, never its insides."""
    if is_address_refused(error):
        return AttemptFailed("refused_address", "not a public address")
    # A line lost before the whole answer came: our request id makes the repetition harmless.
    if isinstance(error, ClientConnectionError | ClientPayloadError):
        return AttemptFailed("connect", type(error).__name__, passing=True)
    if isinstance(error, ValueError):
        return AttemptFailed("bad_url", "the address cannot be used")
    return AttemptFailed("not_http", type(error).__name__)
