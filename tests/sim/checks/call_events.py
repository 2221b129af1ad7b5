"""Published events equal the log: numbered without gaps, each once, the end last."""

from collections import Counter
from collections.abc import Iterator, Sequence

from engine.calls.model.events import Recovered
from engine.calls.model.io_commands import SendWebhook
from tests.sim.call_histories import CallHistory
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check the events of every call."""
    for history in histories:
        for message in _events(history):
            yield history.id, message
    if not world.faults.kinds:
        yield from _repeated_requests(world, histories)


def _repeated_requests(
    world: WorldView, histories: Sequence[CallHistory]
) -> Iterator[tuple[str, str]]:
    """Find repetitions; a next owner repeats what takes longer than the old one waits for.

    Of a call that has ended meanwhile no step says that it has another owner.
    """
    steps = [(history.id, step) for history in histories for step in history.steps]
    taken_over = Counter(call for call, step in steps if isinstance(step.event, Recovered))
    requested = {
        c.request for _, step in steps for c in step.commands if isinstance(c, SendWebhook)
    }
    answered = {getattr(step.event, "request", "") for _, step in steps}
    for request, times in world.servers.at_ms.items():
        call = request.rpartition(".")[0]
        is_last = request in requested and request not in answered
        if len(times) > 1 + taken_over[call] + is_last:
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
