"""What somebody who steers a call is answered is the call as it is stored."""

from collections.abc import Iterator, Sequence

from tests.sim.call_log import Story
from tests.sim.scene import World
from wire.base import tag_of


def check(world: World, told: Sequence[Story]) -> Iterator[tuple[str, str]]:
    """Check every answer that somebody got."""
    by_id = {story.id: story for story in told}
    for each in world.granted:
        if not any(moment.call == each.call for moment in by_id[each.call.id].moments):
            yield each.call.id, f"{tag_of(each.wish)} was answered with what was not stored"
