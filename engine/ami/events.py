"""What the engine takes from a manager interface's events.

A phone can forge an event (`messages`), so each is taken only for what is said in docs/asterisk.md.
"""

import re

from engine.ami.contacts import is_name
from engine.ami.listeners import DtmfListener, HealthListener
from engine.ami.messages import Message

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
