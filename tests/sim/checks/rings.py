"""A party is called for as long as it was given to answer, and no longer."""

from collections.abc import Iterator, Sequence

from engine.calls.model.events import LegCreated
from engine.calls.model.state import Dialing, Ended, Ending
from engine.runtime.pbx.ari_requests import RING_MARGIN_S
from tests.sim.call_histories import CallHistory
from tests.sim.checks.intervals import Interval, is_long, merge
from tests.sim.world_view import WorldView

LOSING = frozenset({"lost", "crash"})


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every leg that was called."""
    for history in histories:
        for leg, intervals in _overdue(world, history).items():
            for begin_ms, end_ms in merge(intervals):
                if is_long(world, (begin_ms, end_ms)):
                    yield leg, f"rang for {end_ms - begin_ms:.0f} ms too long"


def _overdue(world: WorldView, history: CallHistory) -> dict[str, list[Interval]]:
    found: dict[str, list[Interval]] = {}
    since_ms: dict[tuple[str, bool], int] = {}  # its time begins anew once its party is called
    for step, (begin_ms, end_ms, call) in zip(history.steps, history.intervals(), strict=False):
        if isinstance(step.event, LegCreated):
            since_ms.pop((step.event.leg, False), None)
        if isinstance(call.state, Ending | Ended):
            break
        for leg in call.legs:
            # A dial that was lost, or whose engine died before it (decision 0006), leaves no time
            # with Asterisk; the others' may be long.
            is_lost = isinstance(call.state, Dialing) and LOSING & world.faults.kinds
            if leg.state == "up" or leg.id == history.opened.main or is_lost:
                continue
            called_ms = since_ms.setdefault((leg.id, leg.state == "requested"), begin_ms)
            # Of several that a dial calls the last decides when it ends; Asterisk ends each.
            margin_ms = RING_MARGIN_S * 1000 if isinstance(call.state, Dialing) else 0
            due_ms = max(begin_ms, called_ms + leg.ring_timeout_ms + margin_ms)
            if due_ms < end_ms:
                found.setdefault(leg.id, []).append((due_ms, end_ms))
    return found
