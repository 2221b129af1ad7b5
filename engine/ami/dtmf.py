"""Keys as the manager interface tells them, to all who are logged in."""

from typing import Protocol

from panoramisk.message import Message


class DtmfListener(Protocol):
    """Who is told; `runtime.overheard.Overheard` is the real one."""

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        """Hear that a key was let go, and when that was by the PBX's clock."""


def dispatch_dtmf(event: Message, listener: DtmfListener) -> None:
    """Tell of a key that a phone has sent; one that is sent to a phone is passed over.

    Without `timestampevents = yes` in manager.conf no key can be told from another.
    """
    if event.Direction != "Received":
        return
    try:
        held_ms, pbx_ms = int(event.DurationMs), round(float(event.Timestamp) * 1000)
    except ValueError:
        return
    listener.on_digit(event.Uniqueid, event.Digit, held_ms, pbx_ms)
