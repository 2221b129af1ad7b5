"""Every ended call has one call record, whose times add up and whose legs are complete."""

from collections.abc import Iterator, Sequence

from tests.harness.record_checks import record_faults
from tests.sim.call_histories import CallHistory
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check the record of every call."""
    del world
    for history in histories:
        if not history.is_live:
            yield from ((history.id, message) for message in record_faults(history.events))
