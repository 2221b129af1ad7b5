"""The log of requests to customers' servers: every attempt, with its request and its response."""

from typing import Literal

from msgspec import Struct

from wire.base import Shape

AttemptKind = Literal["action", "gather", "request", "callback"]
AttemptOutcome = Literal["succeeded", "failed"]
MASK = "***"  # stands for what the log does not contain


class AttemptSummary(Shape, frozen=True, kw_only=True):
    """One attempt, as lists show it.

    `kind`: a request for the next action, a gather's result, an API request, a status callback.
    `requestId` is the idempotency key, which all attempts of a request have in common. `status` is
    0 without a response; `reason` is empty if the attempt succeeded.
    """

    id: str
    at_ms: int
    kind: AttemptKind
    request_id: str
    attempt: int
    call_id: str | None = None
    method: str
    url: str
    status: int = 0
    took_ms: int
    outcome: AttemptOutcome
    reason: str = ""
    retry_of: str | None = None  # the attempt that was repeated by hand
    to_listener: bool = False  # it was sent to a developer's machine instead of its address


class LoggedText(Struct, frozen=True, rename="camel"):
    """A body as text; `truncated`: the log has only its beginning."""

    text: str
    truncated: bool = False


class AttemptView(AttemptSummary, frozen=True, kw_only=True):
    """One attempt in full; `***` stands for signatures, passwords and sensitive digits.

    `detail` says what is wrong, such as the field of an invalid verb; it is empty without a failure
    of its own. Secrets of an API request are shown as their templates, such as `{{secrets.token}}`.
    """

    request_headers: dict[str, str]
    request_body: LoggedText
    response_headers: dict[str, str]
    response_body: LoggedText
    detail: str = ""


class Attempts(Shape, frozen=True):
    """A page of attempts, the latest first; `next` continues with earlier ones (`before`)."""

    attempts: tuple[AttemptSummary, ...]
    next: str | None = None
