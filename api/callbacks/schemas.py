"""Views of an account's status callbacks."""

from typing import Any

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from api.common.timestamps import format_ms
from wire.callbacks.account import DeadLetterView
from wire.callbacks.settings import CallbackSettings
from wire.decoding import patterns


class CallbackState(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Where status callbacks are sent, and which secret signs them.

    `secret` is only in the response that creates it, and signs webhooks and API requests, too.
    Until `previousSecretUntil` the one before signs as well. `stopped`: the target answered 410.
    """

    target: str | None
    concurrency: int
    per_s: float | None
    secret_number: int
    secret_created_time: str
    stopped: bool
    previous_secret_until: str | None = None
    secret: str | None = None


class DeadLetterQuery(BaseModel):
    """The page of a list."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cursor: str = Field(
        "",
        max_length=128,
        pattern=f"^$|{patterns.DEAD_LETTER_ID.removesuffix(patterns.END)}$",
        description="The `nextCursor` of the previous page.",
    )


class DeadLetter(Struct, frozen=True, rename="camel"):
    """An event that was given up, with the reason and the number of attempts."""

    id: str
    call_id: str
    event_id: str
    target: str
    reason: str
    attempts: int
    given_up_time: str
    event: dict[str, Any]


class DeadLetterPage(Struct, frozen=True, rename="camel"):
    """A page of dead letters, the oldest of each shard first."""

    data: tuple[DeadLetter, ...]
    next_cursor: str | None


def callback_state(
    settings: CallbackSettings, now_ms: int, *, is_stopped: bool, is_secret_new: bool = False
) -> CallbackState:
    until_ms = settings.previous_until_ms
    return CallbackState(
        settings.target,
        settings.concurrency,
        settings.per_s,
        settings.secret_number,
        format_ms(settings.made_ms),
        is_stopped,
        format_ms(until_ms) if settings.previous and now_ms < until_ms else None,
        settings.secret if is_secret_new else None,
    )


def dead_letter(view: DeadLetterView) -> DeadLetter:
    return DeadLetter(
        view.id,
        view.call_id,
        view.event_id,
        view.target,
        view.reason,
        view.tries,
        format_ms(view.dead_ms),
        view.event,
    )
