"""Errors that reject a request to a call."""

from engine.calls.sessions.preconditions import Rejection
from wire.shard import ShardId


class RequestRejected(Exception):
    """A request cannot be served now; `rejection` says why."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.detail)
        self.rejection = rejection


class NotOwner(Exception):
    """Another engine owns the shard of a request; None: any engine with a shard can serve it."""

    def __init__(self, shard: ShardId | None) -> None:
        super().__init__(f"shard {shard} is another engine's")
        self.shard = shard


class CallTooLarge(Exception):
    """A call took more steps, or has a larger state, than a call may have."""


class LighterLoadElsewhere(NotOwner):
    """Another engine should start a call, at a node with a lower load; this engine may as well."""
