"""What the engine takes from a manager interface's events.

A phone can forge an event (`messages`), so each is taken only for what is said in docs/asterisk.md.
"""

from engine.ami.contacts import is_name
from engine.ami.listeners import DtmfListener, HealthListener
from engine.ami.messages import Message, read_message

RTP_CLOCK_HZ = 8_000  # unit of the reported jitter
_FAILED_LOGINS = (
    b"Event: ChallengeResponseFailed",
    b"Event: InvalidPassword",
    b"Event: InvalidAccountID",
    b"Event: FailedACL",
)
_DTMF = b"Event: DTMF"
_DTMF_FIELDS = (
    "Event", "Privilege", "Timestamp", "Channel", "ChannelState", "CallerIDNum", "CallerIDName",
    "ConnectedLineNum", "ConnectedLineName", "Context", "Exten", "Priority", "Uniqueid", "Linkedid",
    "Digit",
)  # fmt: skip
# All of this and more is longer than a caller's text in an event, at most 80 bytes a field.
DTMF_BEGIN = (*_DTMF_FIELDS, "Direction")
DTMF_END = (*_DTMF_FIELDS, "DurationMs", "Direction")
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
    event = read_message(data)
    if event is not None:
        try:
            loss, jitter = int(event["Report0FractionLost"]), int(event["Report0IAJitter"])
        except ValueError:
            return True  # no audio was received
        listener.on_rtp_report(loss / 256, jitter * 1000 / RTP_CLOCK_HZ)
    return True


def take_dtmf(data: bytes, listener: DtmfListener) -> bool:
    """Report a digit that a phone has sent; ignore digits sent to a phone.

    Needs `timestampevents = yes` in manager.conf to distinguish repeated digits.
    """
    if not data.startswith(_DTMF):
        return False
    event = read_message(data)
    if event is not None and event["Direction"] == "Received":
        _dispatch_digit(event, listener)
    return True


def _dispatch_digit(event: Message, listener: DtmfListener) -> None:
    channel = event["Uniqueid"]
    try:
        pbx_ms = round(float(event["Timestamp"]) * 1000)
        if event.event == "DTMFBegin" and event.has_in_order(DTMF_BEGIN):
            listener.on_digit_started(channel, pbx_ms)
        elif event.event == "DTMFEnd" and event.has_in_order(DTMF_END):
            listener.on_digit(channel, event["Digit"], int(event["DurationMs"]), pbx_ms)
    except (ValueError, OverflowError):
        return


def changed_endpoint(event: Message) -> str:
    """Return the endpoint to ask about, as one of its contacts has changed perhaps; or empty."""
    name = event["EndpointName"] if event.event == "ContactStatus" else ""
    return name if is_name(name) else ""


def is_phone_login(event: Message) -> bool:
    """Return whether an event is the login of a phone."""
    is_phone = event.event == "SuccessfulAuth" and event["Service"] == "PJSIP"
    return is_phone and event.has_in_order(LOGIN) and is_name(event["AccountID"])
