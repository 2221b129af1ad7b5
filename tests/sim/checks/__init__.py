"""What must hold in every world: each check yields the id of a call or channel, and the fault."""

from collections.abc import Iterator, Sequence

from tests.sim.call_log import Story
from tests.sim.checks import (
    ami_digits,
    answers,
    bridges,
    call_events,
    digits,
    ends,
    flows,
    io_commands,
    legs,
    media_plan,
    orders,
    prompts,
    recordings,
    records,
    referrals,
    replays,
    rings,
    screenings,
    sessions,
    silence,
    sounds,
    takeover,
    together,
)
from tests.sim.scene import World

Fault = tuple[str, str]
CHECKS = (
    ends.check,
    call_events.check,
    legs.check,
    orders.check,
    sounds.check,
    prompts.check,
    digits.check,
    ami_digits.check,
    io_commands.check,
    flows.check,
    media_plan.check,
    silence.check,
    bridges.check,
    sessions.check,
    rings.check,
    together.check,
    referrals.check,
    answers.check,
    takeover.check,
    screenings.check,
    recordings.check,
    records.check,
    replays.check,
)


def faults_of(world: World, told: Sequence[Story]) -> Iterator[Fault]:
    """Find all that is wrong with a world that has come to its end."""
    for check in CHECKS:
        yield from check(world, told)
