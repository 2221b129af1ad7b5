"""What the engine takes from a manager interface's events.

A phone can forge an event (`messages`), so each is taken only for what is said in docs/asterisk.md.
"""

import re
from collections.abc import Sequence
from typing import Protocol

from engine.ami.contacts import AddressRecord, Contact, is_name
from engine.ami.messages import Message


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


RTP_CLOCK_HZ = 8_000  # unit of the reported jitter
MAX_DIGITS = 10  # of a number of 32 bits
_FAILED_LOGINS = (
    b"Event: ChallengeResponseFailed",
    b"Event: InvalidPassword",
    b"Event: InvalidAccountID",
    b"Event: FailedACL",
)
_DTMF = b"Event: DTMF"
# All fields, in their order: more than a caller's text in an event, at most 80 bytes in each of
# three fields, could contain. An expression takes a quarter of the time of `read_message`.
_VALUE = rb"[^\x00-\x1f\x7f]*\r\n"
_DIGIT = re.compile(
    rb"Event: DTMF(?P<kind>Begin|End)\r\nPrivilege: dtmf,all\r\n"
    rb"Timestamp: (?P<at>[0-9]{1,15}\.[0-9]{1,9})\r\n(?:SystemName: V)?"
    rb"Channel: VChannelState: VChannelStateDesc: VCallerIDNum: VCallerIDName: V"
    rb"ConnectedLineNum: VConnectedLineName: VLanguage: VAccountCode: V"
    rb"Context: VExten: VPriority: VUniqueid: (?P<channel>[!-~]+)\r\n(?:TenantID: V)?Linkedid: V"
    rb"Digit: (?P<digit>[0-9A-D*#])\r\n(?:DurationMs: (?P<held>[0-9]{1,9})\r\n)?"
    rb"Direction: Received".replace(b": V", b": " + _VALUE)
)
_RTCP = (b"Event: RTCPReceived", b"Event: RTCPSent")  # quality of the sent and the received audio
LOGIN = (
    "Event", "Privilege", "EventTV", "Severity", "Service", "EventVersion", "AccountID",
    "SessionID", "LocalAddress", "RemoteAddress", "UsingPassword",
)  # fmt: skip


def take_failed_login(data: bytes, listener: HealthListener) -> bool:
    """Report a refused login. Whoever guesses sends many: nothing else of the event is read."""
    if not data.startswith(_FAILED_LOGINS):
        return False
    listener.on_failed_login("sip" if b"\r\nService: PJSIP\r\n" in data else "ami")
    return True


def take_rtcp(data: bytes, listener: HealthListener) -> bool:
    """Report the quality of a leg's audio; ignore an RTCP event without a report block."""
    if not data.startswith(_RTCP):
        return False
    try:
        loss, jitter = _number(data, b"Report0FractionLost"), _number(data, b"Report0IAJitter")
    except ValueError:
        return True  # no audio was received
    listener.on_rtp_report(loss / 256, jitter * 1000 / RTP_CLOCK_HZ)
    return True


def _number(data: bytes, name: bytes) -> int:
    """Return a field of an RTCP event; raises ValueError if it is absent, or none."""
    text = data.partition(b"\r\n%b: " % name)[2].partition(b"\r\n")[0]
    if not text.isdigit() or len(text) > MAX_DIGITS:
        raise ValueError(text)
    return int(text)


def take_dtmf(data: bytes, listener: DtmfListener) -> bool:
    """Report a digit that a phone has sent; ignore digits sent to a phone.

    Needs `timestampevents = yes` in manager.conf to distinguish repeated digits.
    """
    if not data.startswith(_DTMF):
        return False
    found = _DIGIT.fullmatch(data)
    if found is not None and (found["kind"] == b"End") == (found["held"] is not None):
        channel, pbx_ms = found["channel"].decode(), round(float(found["at"]) * 1000)
        if found["held"] is None:
            listener.on_digit_started(channel, pbx_ms)
        else:
            listener.on_digit(channel, found["digit"].decode(), int(found["held"]), pbx_ms)
    return True


def changed_endpoint(event: Message) -> str:
    """Return the endpoint to ask about, as one of its contacts has changed perhaps; or empty."""
    name = event["EndpointName"] if event.event == "ContactStatus" else ""
    return name if is_name(name) else ""


def is_phone_login(event: Message) -> bool:
    """Return whether an event is the login of a phone."""
    is_phone = event.event == "SuccessfulAuth" and event["Service"] == "PJSIP"
    return is_phone and event.has_in_order(LOGIN) and is_name(event["AccountID"])
