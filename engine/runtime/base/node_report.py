"""What engines report to each other: the health of nodes, and what accounts use."""

from typing import NamedTuple

from msgspec import Struct


class AccountUse(NamedTuple):
    """What live calls of an account use: dialled legs, for how long they are up, and calls."""

    legs: int = 0
    used_ms: int = 0
    calls: int = 0


class NodeReport(Struct, frozen=True, omit_defaults=True):
    """What the manager interface tells of a node; the default is a healthy node without it."""

    is_watched: bool = False
    is_shutting_down: bool = False
    is_trunk_unreachable: bool = False
    unregistered: tuple[str, ...] = ()  # its registrations that were rejected
    calls: int | None = None  # as the node counts them
    loss: float = 0.0  # fraction of packets, 0 to 1
    jitter_ms: float = 0.0
