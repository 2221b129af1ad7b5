"""How a node is, as its manager interface tells it."""

from typing import Protocol

from panoramisk.message import Message

RTP_CLOCK_HZ = 8_000  # of jitter on a line of telephony


class HealthListener(Protocol):
    """Who is told; `runtime.health.NodeHealth` is the real one."""

    def on_booted(self) -> None:
        """Hear that the node is usable."""

    def on_shutdown(self) -> None:
        """Hear that it shuts down."""

    def on_unwatched(self) -> None:
        """Hear that nothing is heard of it any more."""

    def on_call_count(self, calls: int) -> None:
        """Hear how many calls the node itself counts."""

    def on_contact(self, endpoint: str, uri: str, is_reachable: bool | None) -> None:
        """Hear how an endpoint's contact is; None: it is gone."""

    def on_registration(self, who: str, is_so: bool) -> None:
        """Hear whether the node is registered somewhere, as at a carrier."""

    def on_rtp_report(self, loss: float, jitter_ms: float) -> None:
        """Hear how a leg hears the other side."""


def dispatch_health(event: Message, listener: HealthListener) -> None:
    """Tell a listener what an event means, if it means anything."""
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
        case "RTCPReceived" | "RTCPSent":  # how the other side hears us, and how we hear it
            _dispatch_rtcp(event, listener)
        case _:
            pass


def _reachable(status: str) -> bool | None:
    return None if status == "Removed" else status not in {"Unreachable", "Unavailable"}


def _dispatch_rtcp(event: Message, listener: HealthListener) -> None:
    try:
        loss, jitter = int(event.Report0FractionLost), int(event.Report0IAJitter)
    except (TypeError, ValueError):
        return  # nothing was heard on that line
    listener.on_rtp_report(loss / 256, jitter * 1000 / RTP_CLOCK_HZ)
