"""A party rings no longer than its ring timeout."""

from collections.abc import Iterator, Sequence

from engine.calls.model.call_states import Dialing, Ended, Ending
from engine.calls.model.events import LegCreated
from engine.runtime.pbx.ari_requests import RING_MARGIN_S
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import Interval, is_long, merge
from tests.sim.world_view import WorldView

LOSING = frozenset({"lost", "crash"})


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every called leg."""
    for history in histories:
        for leg, intervals in _overdue(world, history).items():
            for begin_ms, end_ms in merge(intervals):
                if is_long(world, (begin_ms, end_ms)):
                    yield leg, f"rang for {end_ms - begin_ms:.0f} ms too long"


def _overdue(world: WorldView, history: CallHistory) -> dict[str, list[Interval]]:
    found: dict[str, list[Interval]] = {}
    since_ms: dict[tuple[str, bool], int] = {}  # restarts when the party is called
    for step, (begin_ms, end_ms, call) in zip(history.steps, history.intervals, strict=False):
        if isinstance(step.event, LegCreated):
            since_ms.pop((step.event.leg, False), None)
        if isinstance(call.state, Ending | Ended):
            break
        for leg in call.legs:
            # A lost dial, or one whose engine died before it (decision 0006), leaves no timeout
            # in Asterisk; those of the others can be long.
            is_lost = isinstance(call.state, Dialing) and LOSING & world.faults.kinds
            if leg.state == "up" or leg.id == history.opened.main or is_lost:
                continue
            called_ms = since_ms.setdefault((leg.id, leg.state == "requested"), begin_ms)
            # The longest ring timeout of a dial ends it; Asterisk ends each leg.
            margin_ms = RING_MARGIN_S * 1000 if isinstance(call.state, Dialing) else 0
            due_ms = max(begin_ms, called_ms + leg.ring_timeout_ms + margin_ms)
            if due_ms < end_ms:
                found.setdefault(leg.id, []).append((due_ms, end_ms))
    return found
