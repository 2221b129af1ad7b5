"""Errors that reject a request to a call."""

from engine.calls.sessions.preconditions import Rejection


class RequestRejected(Exception):
    """A request cannot be served now; `rejection` says why."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.detail)
        self.rejection = rejection


class NotOwner(Exception):
    """Another engine owns the slot of a request; None: any engine with a slot can serve it."""

    def __init__(self, slot: int | None) -> None:
        super().__init__(f"slot {slot} is another engine's")
        self.slot = slot
