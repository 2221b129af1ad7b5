"""The checks that hold in every world; each yields a call or channel id and the violation."""

from collections.abc import Iterator, Sequence

from tests.sim.call_histories import CallHistory
from tests.sim.checks import (
    answers,
    bridges,
    call_events,
    commands,
    conversations,
    digits,
    ends,
    flows,
    legs,
    lengths,
    media_plan,
    menus,
    phones,
    prompts,
    recordings,
    records,
    replays,
    rings,
    screenings,
    sessions,
    silence,
    sounds,
    speech,
    takeover,
    timeouts,
)
from tests.sim.world_view import WorldView

Violation = tuple[str, str]
CHECKS = (
    ends.check,
    call_events.check,
    legs.check,
    commands.check,
    sounds.check,
    prompts.check,
    lengths.check,
    digits.check,
    menus.check,
    speech.check,
    timeouts.check,
    flows.check,
    media_plan.check,
    silence.check,
    bridges.check,
    sessions.check,
    rings.check,
    conversations.check,
    phones.check,
    answers.check,
    takeover.check,
    screenings.check,
    recordings.check,
    records.check,
    replays.check,
)


def find_violations(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[Violation]:
    """Run all checks on a world that has ended."""
    for check in CHECKS:
        yield from check(world, histories)
