"""Health events of a node, from its manager interface."""

from typing import Protocol

from panoramisk.message import Message

RTP_CLOCK_HZ = 8_000  # unit of the reported jitter


class HealthListener(Protocol):
    """Receives health events; implemented by `runtime.nodes.health`."""

    def on_booted(self) -> None:
        """Handle that the node is ready."""

    def on_shutdown(self) -> None:
        """Handle that the node shuts down."""

    def on_unwatched(self) -> None:
        """Handle that the connection is lost: the health is unknown."""

    def on_call_count(self, calls: int) -> None:
        """Handle the number of calls that the node counts."""

    def on_contact(self, endpoint: str, uri: str, is_reachable: bool | None) -> None:
        """Handle the status of an endpoint's contact; None: it was removed."""

    def on_registration(self, client: str, is_registered: bool) -> None:
        """Handle the node's own registration, as at a carrier."""

    def on_rtp_report(self, loss: float, jitter_ms: float) -> None:
        """Handle an RTCP report of a leg."""


def dispatch_health(event: Message, listener: HealthListener) -> None:
    """Report a health event to a listener; ignore other events."""
    match event.event:
        case "FullyBooted":
            listener.on_booted()
        case "Shutdown":
            listener.on_shutdown()
        case "ContactStatus":
            listener.on_contact(event.EndpointName, event.URI, _reachable(event.ContactStatus))
        case "ContactList":
            listener.on_contact(event.Endpoint, event.Uri, _reachable(event.Status))
        case "Registry":
            listener.on_registration(event.Username, event.Status == "Registered")
        case "RTCPReceived" | "RTCPSent":  # quality of the sent and of the received audio
            _dispatch_rtcp(event, listener)
        case _:
            pass


def _reachable(status: str) -> bool | None:
    return None if status == "Removed" else status not in {"Unreachable", "Unavailable"}


def _dispatch_rtcp(event: Message, listener: HealthListener) -> None:
    try:
        loss, jitter = int(event.Report0FractionLost), int(event.Report0IAJitter)
    except (TypeError, ValueError):
        return  # no report block: no audio was received
    listener.on_rtp_report(loss / 256, jitter * 1000 / RTP_CLOCK_HZ)
