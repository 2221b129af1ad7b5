"""DTMF events of the manager interface."""

from typing import Protocol

from panoramisk.message import Message


class DtmfListener(Protocol):
    """Receives DTMF; implemented by `runtime.nodes.dtmf_log`."""

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        """Handle the end of a digit, with its time by the PBX's clock."""


def dispatch_dtmf(event: Message, listener: DtmfListener) -> None:
    """Report a digit that a phone has sent; ignore digits sent to a phone.

    Needs `timestampevents = yes` in manager.conf to distinguish repeated digits.
    """
    if event.Direction != "Received":
        return
    try:
        held_ms, pbx_ms = int(event.DurationMs), round(float(event.Timestamp) * 1000)
    except ValueError:
        return
    listener.on_digit(event.Uniqueid, event.Digit, held_ms, pbx_ms)
