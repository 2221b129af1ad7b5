"""What was told is what the log tells: numbered without a gap, each once, the end last."""

from collections.abc import Iterator, Sequence

from tests.sim.call_log import Story
from tests.sim.scene import World


def check(world: World, told: Sequence[Story]) -> Iterator[tuple[str, str]]:
    """Check the status events of every call."""
    for story in told:
        for words in _events(story):
            yield story.id, words
    if not world.faults.kinds:
        for request, times in world.servers.at_ms.items():
            if len(times) > 1:
                yield request, f"was asked {len(times)} times"


def _events(story: Story) -> Iterator[str]:
    numbers = [event.sequence_number for event in story.told]
    if numbers != list(range(len(numbers))):
        yield f"its status events are numbered {numbers}"
    if [event.event for event in story.told].count("completed") != 1:
        yield "its end was not told once"
    elif story.told[-1].event != "completed":
        yield f"told {story.told[-1].event} after its end"
    if story.tells() != list(story.told):
        yield "told something else than its log says"
