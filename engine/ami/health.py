"""How a node is, as its manager interface tells it."""

from typing import Protocol

from panoramisk.message import Message

TIMESTAMP_HZ = 8_000  # of jitter on a line of telephony


class HealthListener(Protocol):
    """Who is told; `runtime.health.NodeHealth` is the real one."""

    def booted(self) -> None:
        """Hear that the node is usable."""

    def leaves(self) -> None:
        """Hear that it shuts down."""

    def unwatched(self) -> None:
        """Hear that nothing is heard of it any more."""

    def counted(self, calls: int) -> None:
        """Hear how many calls the node itself counts."""

    def contact(self, endpoint: str, uri: str, is_reachable: bool | None) -> None:
        """Hear how an endpoint's contact is; None: it is gone."""

    def registered(self, who: str, is_so: bool) -> None:
        """Hear whether the node is registered somewhere, as at a carrier."""

    def reported(self, loss: float, jitter_ms: float) -> None:
        """Hear how a leg hears the other side."""


def take_health(event: Message, listener: HealthListener) -> None:
    """Tell a listener what an event means, if it means anything."""
    match event.event:
        case "FullyBooted":
            listener.booted()
        case "Shutdown":
            listener.leaves()
        case "ContactStatus":
            listener.contact(event.EndpointName, event.URI, _reachable(event.ContactStatus))
        case "ContactList":
            listener.contact(event.Endpoint, event.Uri, _reachable(event.Status))
        case "Registry":
            listener.registered(event.Username, event.Status == "Registered")
        case "RTCPReceived" | "RTCPSent":  # how the other side hears us, and how we hear it
            _take_report(event, listener)
        case _:
            pass


def _reachable(status: str) -> bool | None:
    return None if status == "Removed" else status not in {"Unreachable", "Unavailable"}


def _take_report(event: Message, listener: HealthListener) -> None:
    try:
        loss, jitter = int(event.Report0FractionLost), int(event.Report0IAJitter)
    except (TypeError, ValueError):
        return  # nothing was heard on that line
    listener.reported(loss / 256, jitter * 1000 / TIMESTAMP_HZ)
