"""Every call that has ended has one record, whose times add up and whose legs are all there."""

from collections.abc import Iterator, Sequence

from tests.harness.record_checks import record_faults
from tests.sim.call_log import Story
from tests.sim.scene import World


def check(world: World, told: Sequence[Story]) -> Iterator[tuple[str, str]]:
    """Check the record of every call."""
    del world
    for story in told:
        if not story.is_live:
            yield from ((story.id, words) for words in record_faults(story.told))
