"""An account's status callbacks over RPC: where they go, how they are signed, what was given up."""

from typing import Annotated, Any

from msgspec import Meta

from wire import patterns
from wire.base import Shape
from wire.callback_targets import AccountTarget

DeadLetterId = Annotated[str, Meta(pattern=patterns.DEAD_LETTER_ID)]


class PutCallback(Shape, frozen=True):
    """Where `auto-set` leads; at most so many requests at once and a second, of each engine.

    Without a target the account's calls are told to nobody unless they name one; its secrets sign
    what those are told.
    """

    target: AccountTarget | None = None
    concurrency: Annotated[int, Meta(ge=1, le=256)] = 32
    per_s: Annotated[float, Meta(gt=0, le=10_000)] | None = None


class CallbackView(Shape, frozen=True):
    """An account's callbacks. `secret` is shown once, when it is made.

    `stopped` says that the target answered 410 and gets nothing until it is put again.
    `previousUntilMs`: until then what is sent has the signature of the secret before, too.
    """

    target: str | None
    concurrency: int
    per_s: float | None = None
    secret: str | None = None
    made_ms: int = 0  # when the secret was
    previous_until_ms: int | None = None
    stopped: bool = False


class DeadLetterView(Shape, frozen=True):
    """An event that was given up: whose, which, why, after how many tries, and the event itself."""

    id: str
    call_id: str
    event_id: str
    target: str
    reason: str
    tries: int
    dead_ms: int
    event: dict[str, Any]


class DeadLetters(Shape, frozen=True):
    """An account's dead letters, the oldest of each slot first; `more`: there are others."""

    letters: tuple[DeadLetterView, ...]
    more: bool = False


class Resend(Shape, frozen=True):
    """Which dead letters to send again: those that are named, or all."""

    ids: Annotated[tuple[DeadLetterId, ...], Meta(max_length=1000)] = ()
    all: bool = False


class Resent(Shape, frozen=True):
    """How many are on their way again; what found no room or is not there stays as it is."""

    resent: int
