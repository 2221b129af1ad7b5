"""An account's status callbacks over RPC: target, signing secret and dead letters."""

from typing import Annotated, Any

from msgspec import Meta

from wire.base import Shape
from wire.callbacks.targets import AccountTarget
from wire.decoding import patterns

DeadLetterId = Annotated[str, Meta(pattern=patterns.DEAD_LETTER_ID)]


class PutCallback(Shape, frozen=True):
    """The target of `auto-set`, and the limits on concurrency and rate, for each engine.

    Without a target, only calls that name one have callbacks; the account's secrets sign those.
    """

    target: AccountTarget | None = None
    concurrency: Annotated[int, Meta(ge=1, le=256)] = 32
    per_s: Annotated[float, Meta(gt=0, le=10_000)] | None = None


class CallbackView(Shape, frozen=True):
    """An account's callback settings, without secrets.

    `secretNumber` counts its rotations.
    `stopped`: the target answered 410 and gets no events until settings are put again.
    `previousUntilMs`: until then the previous secret signs, too.
    """

    target: str | None
    concurrency: int
    per_s: float | None = None
    secret_number: int = 0
    made_ms: int = 0  # creation time of the secret
    previous_until_ms: int | None = None
    stopped: bool = False


class DeadLetterView(Shape, frozen=True):
    """An event that was given up, with the reason and the number of attempts."""

    id: str
    call_id: str
    event_id: str
    target: str
    reason: str
    tries: int
    dead_ms: int
    event: dict[str, Any]


class DeadLetters(Shape, frozen=True):
    """An account's dead letters, the oldest of each shard first; `more`: the list is incomplete."""

    dead_letters: tuple[DeadLetterView, ...]
    more: bool = False


class Resend(Shape, frozen=True):
    """Which dead letters to resend: those listed, or all."""

    ids: Annotated[tuple[DeadLetterId, ...], Meta(max_length=1000)] = ()
    all: bool = False


class ResendResult(Shape, frozen=True):
    """How many are due again; others are missing, or exceed the outbox limits."""

    resent: int


class CallbackTestResult(Shape, frozen=True):
    """How a test event was delivered; without `delivered`, the reason."""

    event_id: str
    target: str
    delivered: bool
    took_ms: int
    reason: str = ""
