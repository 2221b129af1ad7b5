"""What a desk counts of its calls, its tables at hand."""

from engine.calls.model.call import Call
from engine.observe.metrics import Meter

DIRECTIONS = ("inbound", "outbound")


class ShardMetrics:
    """Counts for one (node, slot)."""

    def __init__(self, meter: Meter, node: str, slot: int) -> None:
        calls, nodes = meter.calls, meter.nodes
        self._begun = calls.begun.of(node, slot)
        self._ended = {each: calls.ended.of(node, slot, each) for each in DIRECTIONS}
        self._dropped, self._slot = calls.dropped.of(node), str(slot)
        self._late = calls.late.of(node, slot)
        for rare in (calls.dropped, calls.given_up, calls.taken_over, nodes.away):
            rare.begin(node, slot)
        nodes.reaped.begin(node)

    def began(self, call: Call) -> None:
        """Count a call that was not there before."""
        self._begun[call.direction] += 1

    def closed(self, call: Call) -> None:
        """Count a call that is over, or that a fault ended."""
        if call.is_over:
            self._ended[call.direction][call.status] += 1
        else:
            self._dropped[self._slot] += 1

    def fired(self, late_ms: int) -> None:
        """Note how late a timer was."""
        self._late.observe(late_ms / 1000)
