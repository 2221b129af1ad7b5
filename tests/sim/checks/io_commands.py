"""What was fetched or asked in time is used, not given up."""

from collections.abc import Iterator, Sequence

from engine.calls.model.events import DeadlinePassed
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.state import AwaitingInstructions, Gathering, Playing
from tests.harness.sim.media import parts
from tests.sim.call_log import Story
from tests.sim.scene import World
from wire.media import Source

QUICK_MS = 10_000  # any wait for an errand is longer; a stored flow comes at once


def check(world: World, told: Sequence[Story]) -> Iterator[tuple[str, str]]:
    """Check every wait for an errand that nothing disturbed."""
    for story in told:
        sources: dict[str, tuple[Source, ...]] = {}
        stretches = story.stretches()
        for moment, (begin_ms, end_ms, call) in zip(story.moments[1:], stretches, strict=False):
            sources |= {c.request: c.sources for c in moment.commands if isinstance(c, FetchMedia)}
            if not isinstance(moment.event, DeadlinePassed) or moment.at_ms >= call.must_end_ms:
                continue
            if moment.call.state is call.state:
                continue  # somebody else was called for long enough
            takes_ms = _takes_ms(world, call.state, sources)
            if takes_ms < QUICK_MS and not world.faults.touched(begin_ms, end_ms):
                yield story.id, f"gave up in {call.state}, which takes {takes_ms:.0f} ms"


def _takes_ms(world: World, doing: object, sources: dict[str, tuple[Source, ...]]) -> float:
    match doing:
        case AwaitingInstructions(request):
            return world.servers.takes_ms.get(request, 0)
        case Playing() if not doing.clips:
            return max((parts(each)[1] for each in sources.get(doing.request, ())), default=0)
        case Gathering(phase="fetch") if doing.verb.timeout is None:
            return max((parts(each)[1] for each in sources.get(doing.request, ())), default=0)
        case _:
            return QUICK_MS
