"""Published events equal the log: numbered without gaps, each once, the end last."""

from collections.abc import Iterator, Sequence

from tests.sim.call_histories import CallHistory
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check the events of every call."""
    for history in histories:
        for message in _events(history):
            yield history.id, message
    if not world.faults.kinds:
        for request, times in world.servers.at_ms.items():
            if len(times) > 1:
                yield request, f"was requested {len(times)} times"


def _events(history: CallHistory) -> Iterator[str]:
    numbers = [event.sequence_number for event in history.events]
    if numbers != list(range(len(numbers))):
        yield f"its status events are numbered {numbers}"
    if [event.event for event in history.events].count("completed") != 1:
        yield "its end was not published once"
    elif history.events[-1].event != "completed":
        yield f"published {history.events[-1].event} after its end"
    if history.logged_events != list(history.events):
        yield "published other events than its log has"
