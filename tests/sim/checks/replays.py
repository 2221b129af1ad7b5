"""Every replayed log leads to the same decisions, the stored state and the same events."""

from collections.abc import Iterator, Sequence

from engine.calls.replay_audit import compare_decisions, compare_events, compare_result
from tests.sim.call_histories import CallHistory
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Audit every replayed call as `switchroom call replay` does."""
    del world
    for history in histories:
        if not history.is_replayed:
            continue
        steps = history.steps
        faults = [
            *compare_decisions(steps),
            *compare_result(steps[-1] if steps else None, len(steps), history.record),
            *compare_events(enumerate(steps), history.events).mismatches,
        ]
        yield from ((history.id, f"replay: {fault.detail}") for fault in faults)
        if any(step.digest is None for step in steps):
            yield history.id, "a line of its log has no digest"
