"""The health of a node as its supervisor reports it to the other engines."""

from msgspec import Struct


class NodeReport(Struct, frozen=True, omit_defaults=True):
    """What the manager interface tells of a node; the default is a healthy node without it."""

    is_watched: bool = False
    is_shutting_down: bool = False
    is_trunk_unreachable: bool = False
    unregistered: tuple[str, ...] = ()  # its registrations that were rejected
    calls: int | None = None  # as the node counts them
    loss: float = 0.0  # fraction of packets, 0 to 1
    jitter_ms: float = 0.0
