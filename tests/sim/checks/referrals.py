"""A phone that sends REFER gets its NOTIFY at once."""

from collections.abc import Iterator, Sequence

from tests.sim.call_histories import CallHistory
from tests.sim.intervals import AT_ONCE_MS, is_long
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every REFER that an engine received."""
    del histories
    for channel in world.pbx.past.values():
        for span in channel.spans:
            end_ms = world.clock.at_ms if span.end_ms is None else span.end_ms
            is_heard = not world.faults.is_disturbed(span.begin_ms, span.begin_ms + AT_ONCE_MS)
            if span.kind == "refer" and is_heard and is_long(world, (span.begin_ms, end_ms)):
                yield channel.id, f"REFER to {span.what} was not answered"
