"""A signed event, and the outcomes of one delivery attempt."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from engine.webhooks.log.exchange import Subject
from engine.webhooks.signatures import Signer
from wire.callbacks.targets import ApiRequestTarget, DeliveryTarget, format_target


class SignedEvent(Struct, frozen=True):
    """An event: its account, its id, its JSON, and the headers that sign it for its target.

    `attempt` and `retry_of` are for the webhook log: the number of the attempt, and the attempt
    that is repeated by hand.
    """

    account: str
    id: str
    body: bytes
    headers: Mapping[str, str] = {}  # a request of the account's own is signed as it is sent
    attempt: int = 1
    retry_of: str = ""

    @property
    def subject(self) -> Subject:
        return Subject(
            self.account, "callback", self.id, retry_of=self.retry_of, first=self.attempt
        )


def sign(event: SignedEvent, target: DeliveryTarget, signer: Signer, time_s: float) -> SignedEvent:
    """Return an event with the headers that sign it for a target; `time_s` is wall-clock."""
    if isinstance(target, ApiRequestTarget):
        return event
    headers = signer.headers(event.id, time_s, event.body, format_target(target))
    return replace(event, headers=headers)


class Delivered(Struct, frozen=True):
    """The event has arrived; `is_from_target`: at its target, and not at a listener."""

    is_from_target: bool = True


class Failed(Struct, frozen=True):
    """The attempt failed: a reason in one word, and the delay that the server requested."""

    reason: str
    retry_after_s: float | None = None
    is_from_target: bool = True  # otherwise it says nothing about the target


class Gone(Struct, frozen=True):
    """The target accepts no more events."""


Outcome = Delivered | Failed | Gone


def reason_of(outcome: Outcome) -> str:
    """Return why an event has not arrived, in one word; empty if it has."""
    match outcome:
        case Delivered():
            return ""
        case Gone():
            return "gone"
        case Failed(reason):
            return reason


class Transport(Protocol):
    """Delivers to one kind of target."""

    async def deliver(self, target: DeliveryTarget, event: SignedEvent) -> Outcome:
        """Try once; raises only when cancelled."""


class UninstalledTransport:
    """Events are retried, so an engine that has the packages still delivers them."""

    async def deliver(self, _target: DeliveryTarget, _event: SignedEvent) -> Outcome:
        return Failed("not_installed")
