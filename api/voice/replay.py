"""A call's replay as customers see it: what differs, without what is the operator's."""

from typing import Any

from msgspec import Struct

from base.timeline.rows import OF_OPERATORS, visible_fields
from wire.views import Replay, ReplayDifference


class CallReplayDifference(Struct, frozen=True, rename="camel"):
    """A decision that differs: `about` is `commands`, or `state`, which is that after the last one.

    `atMs` is the moment in the timeline, `step` its number in the call's log, both 0 if it is not
    known. `commands` are those of the replay: of the original ones only a checksum is kept.
    """

    about: str
    detail: str
    step: int
    at_ms: int
    event: dict[str, Any] | None
    commands: tuple[dict[str, Any], ...]


class CallReplay(Struct, frozen=True, rename="camel"):
    """Whether the engine would do the same now; `differences` are the first of them.

    `steps` is the length of the log, `compared` how many of its steps have a checksum. `gap` is the
    first step that the store has lost: later ones cannot be compared.
    """

    call_id: str
    is_same: bool
    is_live: bool
    steps: int
    compared: int
    gap: int | None
    differences: tuple[CallReplayDifference, ...]


STATE_DIFFERS = "the state after the last step differs"  # the fields' names are the engine's


def call_replay(found: Replay) -> CallReplay:
    """Return an engine's replay of a call as customers see it."""
    return CallReplay(
        found.call_id,
        found.is_same,
        found.is_live,
        found.lines,
        found.compared,
        found.gap,
        tuple(map(_difference, found.differences)),
    )


def _difference(found: ReplayDifference) -> CallReplayDifference:
    return CallReplayDifference(
        found.about,
        STATE_DIFFERS if found.about == "state" else found.detail,
        found.line,
        found.at_ms,
        _event(found.event) if found.event is not None else None,
        tuple(
            visible_fields(each, "account")
            for each in found.commands
            if each["type"] not in OF_OPERATORS
        ),
    )


def _event(event: dict[str, Any]) -> dict[str, Any]:
    is_internal = event["type"] in OF_OPERATORS
    return {"type": "engine"} if is_internal else visible_fields(event, "account")
