"""What a desk counts of its calls, its tables at hand."""

from engine.calls.call import Call
from engine.observe.meter import Meter


class DeskMeter:
    """Counts for one (node, slot)."""

    def __init__(self, meter: Meter, node: str, slot: int) -> None:
        self._calls = meter.calls
        self._place = (node, str(slot))
        self._late = meter.calls.late.of(node, slot)
        calls, nodes = meter.calls, meter.nodes
        for rare in (calls.dropped, calls.given_up, calls.taken_over, nodes.away):
            rare.begin(node, slot)
        nodes.reaped.begin(node)

    def began(self, call: Call) -> None:
        """Count a call that was not there before."""
        self._calls.begun.of(*self._place)[call.direction] += 1

    def closed(self, call: Call) -> None:
        """Count a call that is over, or that a fault ended."""
        if call.is_over:
            self._calls.ended.of(*self._place, call.direction)[call.status] += 1
        else:
            node, slot = self._place
            self._calls.dropped.of(node)[slot] += 1

    def fired(self, late_ms: int) -> None:
        """Note how late a timer was."""
        self._late.observe(late_ms / 1000)
