"""One event on its way, and what can become of it."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from wire.callback_targets import DeliveryTarget


class SignedEvent(Struct, frozen=True):
    """An event: whose, its id, its JSON, and the headers that sign it."""

    account: str
    id: str
    body: bytes
    headers: Mapping[str, str]


class Delivered(Struct, frozen=True):
    """It has arrived."""


class Failed(Struct, frozen=True):
    """It has not; the reason in one word, and for how long the server asked to be left alone."""

    reason: str
    retry_after_s: float | None = None


class Gone(Struct, frozen=True):
    """The target wants nothing more."""


Outcome = Delivered | Failed | Gone


class Transport(Protocol):
    """A way to one kind of place."""

    async def deliver(self, place: DeliveryTarget, parcel: SignedEvent) -> Outcome:
        """Try once; never raises but when cancelled."""
        ...
