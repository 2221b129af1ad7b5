"""What running a call's log through the core again has shown, over the internal RPC."""

from typing import Any

from wire.base import Shape


class Difference(Shape, frozen=True):
    """Something that the core decides otherwise now: upon a line's event, at the end, or told.

    `commands`: what it decides now, where that is known; of what it decided then, the log keeps a
    digest only.
    """

    about: str  # commands, events, state
    detail: str
    line: int = 0  # of the log; the call as it was opened is line 0
    at_ms: int = 0
    event: dict[str, Any] | None = None
    commands: tuple[dict[str, Any], ...] = ()


class Replay(Shape, frozen=True):
    """The audit of one call.

    `gap` is the first line that the store has lost: what came after can't be run again.
    `compared` says how many lines had a digest; `events` how many events it tells, `trimmed` how
    many of them are no longer on the stream.
    """

    call_id: str
    is_same: bool
    lines: int
    compared: int
    events: int
    trimmed: int = 0
    gap: int | None = None
    is_live: bool = False
    differences: tuple[Difference, ...] = ()


class EndedCalls(Shape, frozen=True):
    """Calls that have ended, the latest first."""

    call_ids: tuple[str, ...]
