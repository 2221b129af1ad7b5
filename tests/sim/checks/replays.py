"""Every call replays: its log decides the same again, leads to its record, and tells the same."""

from collections.abc import Iterator, Sequence

from engine.calls.replay import compare_decisions, compare_events, compare_result
from tests.sim.call_log import Story
from tests.sim.scene import World


def check(world: World, told: Sequence[Story]) -> Iterator[tuple[str, str]]:
    """Audit every call as `switchroom replay` does."""
    del world
    for story in told:
        moments = story.moments
        faults = [
            *compare_decisions(moments),
            *compare_result(moments, story.record),
            *compare_events(moments, story.told).mismatches,
        ]
        yield from ((story.id, f"replay: {fault.detail}") for fault in faults)
        if any(moment.digest is None for moment in moments):
            yield story.id, "a line of its log has no digest"
