"""A response or clip that arrives in time is used."""

from collections.abc import Iterator, Sequence

from engine.calls.model.call_states import AwaitingInstructions, Gathering, Playing
from engine.calls.model.events import DeadlinePassed
from engine.calls.model.io_commands import FetchMedia
from tests.harness.sim.media import parts
from tests.sim.call_histories import CallHistory
from tests.sim.world_view import WorldView
from wire.media import Source

QUICK_MS = 10_000  # every I/O timeout is longer


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every wait for an I/O command that no fault disturbed."""
    for history in histories:
        sources: dict[str, tuple[Source, ...]] = {}
        state: object = None
        state_since_ms = 0.0
        intervals = history.intervals
        for step, (begin_ms, end_ms, call) in zip(history.steps[1:], intervals, strict=False):
            if call.state is not state:
                state, state_since_ms = call.state, begin_ms
            sources |= {c.request: c.sources for c in step.commands if isinstance(c, FetchMedia)}
            if not isinstance(step.event, DeadlinePassed) or step.at_ms >= call.must_end_ms:
                continue
            if step.call.state is call.state or _is_same_fetch(call.state, step.call.state):
                continue  # another party's ring timeout passed, or a recognizer was lost
            if isinstance(call.state, Gathering) and call.state.clips:
                continue  # it waited for the caller
            takes_ms = _takes_ms(world, call.state, sources)
            if takes_ms < QUICK_MS and not world.faults.is_disturbed(state_since_ms, end_ms):
                yield history.id, f"gave up in {call.state}, which takes {takes_ms:.0f} ms"


def _is_same_fetch(before: object, after: object) -> bool:
    """Return whether a gather waits for its prompt as before."""
    if not isinstance(before, Gathering) or not isinstance(after, Gathering):
        return False
    return before.phase == after.phase == "fetch" and before.request == after.request


def _takes_ms(world: WorldView, state: object, sources: dict[str, tuple[Source, ...]]) -> float:
    match state:
        case AwaitingInstructions(request):
            return world.servers.takes_ms.get(request, 0)
        case Playing() if not state.clips:
            return max((parts(each)[1] for each in sources.get(state.request, ())), default=0)
        case Gathering(phase="fetch") if state.verb.timeout is None:
            return max((parts(each)[1] for each in sources.get(state.request, ())), default=0)
        case _:
            return QUICK_MS
