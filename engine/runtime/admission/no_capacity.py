"""Why no new call can start: the codes of rejections, and when to retry."""

from engine.runtime.policy.capacity_limits import Unavailable

# In the order in which they are checked: a rejection names the last one, of all nodes.
NODE_CODES = (
    "no_node",
    "node_drained",
    "node_leaving",
    "trunk_away",
    "store_down",
    "overloaded",
    "node_full",
    "node_rate",
)
ENGINE_CODES = ("trunk_full", "trunk_rate")  # whatever the node
LONG_RETRY_CODES = NODE_CODES[:4]  # they last until an operator acts, or a machine has started
LONG_RETRY_S = 5
SHORT_RETRY_S = 1


class NoCapacity(Exception):
    """No new call can start now: why, and when to retry."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.retry_after_s = LONG_RETRY_S if code in LONG_RETRY_CODES else SHORT_RETRY_S


def closest_to_room(reasons: list[Unavailable]) -> Unavailable:
    """Return the code of the node that came closest to taking the call, with all details."""
    if not reasons:
        return Unavailable("no_node", "no PBX node is connected (none configured)")
    closest = max(reasons, key=lambda each: NODE_CODES.index(each.code))
    return Unavailable(closest.code, "; ".join(dict.fromkeys(each.detail for each in reasons)))
