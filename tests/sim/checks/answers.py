"""The response to a control request is the call as it is stored."""

from collections.abc import Iterator, Sequence

from tests.sim.call_histories import CallHistory
from tests.sim.world_view import WorldView
from wire.base import tag_of


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check the response to every granted request."""
    by_id = {history.id: history for history in histories}
    for each in world.granted:
        if not any(step.call == each.call for step in by_id[each.call.id].steps):
            yield each.call.id, f"{tag_of(each.request)} got a response that was not stored"
