"""Who is informed of what a PBX's manager interface reports."""

from collections.abc import Sequence
from typing import Protocol

from engine.ami.contacts import AddressRecord, Contact


class HealthListener(Protocol):
    """Receives health events; implemented by `NodeHealth`."""

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

    def on_login(self, endpoint: str) -> None:
        """Handle that a phone has logged in, with a REGISTER or a call."""

    def on_failed_login(self, service: str) -> None:
        """Handle a login that was refused, by `sip` or `ami`: perhaps a guess."""

    def on_registration(self, client: str, is_registered: bool) -> None:
        """Handle the node's own registration, as at a carrier."""

    def on_rtp_report(self, loss: float, jitter_ms: float) -> None:
        """Handle an RTCP report of a leg."""


class PhoneListener(Protocol):
    """Receives what phones do; implemented by `runtime.agents.phone_addresses`."""

    def on_login(self, endpoint: str, address: str) -> None:
        """Handle that a phone has logged in from an address: `IPV4/UDP/192.0.2.1/5060`."""

    def on_contact(self, contact: Contact, waited_ms: int) -> None:
        """Handle the status of a contact, which is new perhaps; its event came that long ago."""

    def on_listed(self, records: Sequence[AddressRecord], contacts: Sequence[Contact]) -> None:
        """Handle all that the node has, once after the connection is made."""

    def on_unwatched(self) -> None:
        """Handle that the connection is lost."""


class DtmfListener(Protocol):
    """Receives DTMF; implemented by `runtime.pbx_nodes.recent_digits`."""

    def on_connected(self) -> None:
        """Handle that all digits are reported from now on."""

    def on_digit_started(self, channel: str, pbx_ms: int) -> None:
        """Handle that a key went down, with its time by the PBX's clock."""

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        """Handle the end of a digit, with its time by the PBX's clock."""

    def on_disconnected(self) -> None:
        """Handle a lost connection: the engine misses the ends of digits."""
