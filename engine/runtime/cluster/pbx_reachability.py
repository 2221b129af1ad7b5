"""Which PBX nodes this engine reaches, as it reports them to other engines.

Others act on it: an engine that alone can't reach a node releases its shards (`share_plan.py`). So
a node that dies or starts must look the same to all engines: that one reaches it counts only after
every other one has had time to reach it, too.
"""

from collections.abc import Callable

import structlog
from msgspec import Struct

log = structlog.get_logger()
# Without a reply, and two probes in a row failed: a short stall fails only one.
UNREACHABLE_AFTER_S = 1.4
RECOVERED_AFTER_S = 5.0  # of replies: by then a node is stable for the other engines, too
PROVEN_AFTER_S = 8.0  # of replies without a failure: it counts against engines that lack the node


class NodeProbe(Struct):
    """Results of probing one node; monotonic seconds."""

    last_reply_s: float  # or when probing started
    all_replied_since_s: float | None = None
    steady_since_s: float | None = None  # no two failures in a row since
    failures: int = 0  # in a row
    is_unreachable: bool = False


class PbxReachability:
    """Tracks the probes of each node; `on_change` is called when peers should know at once."""

    def __init__(
        self, monotonic: Callable[[], float], on_change: Callable[[], None] = lambda: None
    ) -> None:
        self._monotonic = monotonic
        self._on_change = on_change
        self._probes: dict[str, NodeProbe] = {}

    @property
    def reachable(self) -> tuple[str, ...]:
        """The nodes that have replied to every probe for PROVEN_AFTER_S."""
        latest_s = self._monotonic() - PROVEN_AFTER_S
        return self._nodes_where(
            lambda probe: (
                probe.all_replied_since_s is not None and probe.all_replied_since_s <= latest_s
            )
        )

    @property
    def unreachable(self) -> tuple[str, ...]:
        """The nodes that can't be reached, or have not recovered for long enough."""
        return self._nodes_where(lambda probe: probe.is_unreachable)

    @property
    def nodes(self) -> frozenset[str]:
        """All nodes of this engine."""
        return frozenset(self._probes)

    @property
    def unproven(self) -> tuple[str, ...]:
        """The unreachable nodes, and those whose last probe failed or is the first."""
        return self._nodes_where(
            lambda probe: probe.is_unreachable or probe.all_replied_since_s is None
        )

    def add_node(self, node: str) -> None:
        self._probes[node] = NodeProbe(self._monotonic())

    def record(self, node: str, is_answered: bool) -> None:
        probe, now_s = self._probes[node], self._monotonic()
        was_silent, was_unreachable = probe.all_replied_since_s is None, probe.is_unreachable
        if is_answered:
            _record_reply(probe, now_s)
        else:
            _record_failure(probe, now_s)
        if probe.is_unreachable != was_unreachable:
            _log_change(node, probe)
        is_silent = probe.all_replied_since_s is None
        if (is_silent, probe.is_unreachable) != (was_silent, was_unreachable):
            self._on_change()

    def remove_node(self, node: str) -> None:
        self._probes.pop(node, None)

    def _nodes_where(self, matches: Callable[[NodeProbe], bool]) -> tuple[str, ...]:
        return tuple(sorted(name for name, probe in self._probes.items() if matches(probe)))


def _record_reply(probe: NodeProbe, now_s: float) -> None:
    probe.last_reply_s, probe.failures = now_s, 0
    if probe.all_replied_since_s is None:
        probe.all_replied_since_s = now_s
    if probe.steady_since_s is None:
        probe.steady_since_s = now_s
    is_recovered = now_s - probe.steady_since_s >= RECOVERED_AFTER_S
    probe.is_unreachable = probe.is_unreachable and not is_recovered


def _record_failure(probe: NodeProbe, now_s: float) -> None:
    probe.failures += 1
    probe.all_replied_since_s = None
    if probe.failures > 1:
        probe.steady_since_s = None
        is_silent = now_s - probe.last_reply_s >= UNREACHABLE_AFTER_S
        probe.is_unreachable = probe.is_unreachable or is_silent


def _log_change(node: str, probe: NodeProbe) -> None:
    if probe.is_unreachable:
        log.warning("node unreachable", node=node, probes=probe.failures)
    else:
        log.info("node reachable again", node=node)
