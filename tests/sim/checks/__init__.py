"""What must hold in every world: each check yields the id of a call or channel, and the fault."""

from collections.abc import Iterator, Sequence

from tests.sim.checks import (
    answers,
    digits,
    ends,
    errands,
    flows,
    greetings,
    handing,
    keys,
    legs,
    orders,
    prompts,
    recordings,
    records,
    referrals,
    replays,
    rings,
    rooms,
    seats,
    sessions,
    silence,
    sounds,
    telling,
    together,
)
from tests.sim.scene import World
from tests.sim.story import Story

Fault = tuple[str, str]
CHECKS = (
    ends.check,
    telling.check,
    legs.check,
    orders.check,
    sounds.check,
    prompts.check,
    digits.check,
    keys.check,
    errands.check,
    flows.check,
    seats.check,
    silence.check,
    rooms.check,
    sessions.check,
    rings.check,
    together.check,
    referrals.check,
    answers.check,
    handing.check,
    greetings.check,
    recordings.check,
    records.check,
    replays.check,
)


def faults_of(world: World, told: Sequence[Story]) -> Iterator[Fault]:
    """Find all that is wrong with a world that has come to its end."""
    for check in CHECKS:
        yield from check(world, told)
