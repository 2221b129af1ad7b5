"""SIP messages (RFC 3261), as far as a phone for the lab needs them."""

import re
from collections.abc import Sequence

from msgspec import Struct

from base.hangup_causes import CAUSES

_STATUS = re.compile(r"SIP/2\.0 (\d{3}) ?(.*)")
_LENGTH = "Content-Length"
_MAX_PORT = 65_535
_NAMES = {
    "v": "Via",
    "f": "From",
    "t": "To",
    "i": "Call-ID",
    "m": "Contact",
    "l": _LENGTH,
    _LENGTH.lower(): _LENGTH,
}


class Message(Struct, frozen=True):
    """A request or response."""

    first_line: str
    headers: tuple[tuple[str, str], ...]
    body: str = ""

    @property
    def status(self) -> int:
        """Return the status code; 0 for a request."""
        found = _STATUS.match(self.first_line)
        return int(found[1]) if found else 0

    @property
    def reason(self) -> str:
        """Return the text of a status."""
        found = _STATUS.match(self.first_line)
        return found[2] if found else ""

    @property
    def method(self) -> str:
        """Return the method of a request, or of the request that this responds to."""
        if self.status:
            return self.header("CSeq").rpartition(" ")[2]
        return self.first_line.partition(" ")[0]

    def header(self, name: str) -> str:
        """Return the first value of a header, or an empty string."""
        return next(iter(self.all(name)), "")

    def all(self, name: str) -> list[str]:
        return [value for each, value in self.headers if each.lower() == name.lower()]

    def encode(self) -> bytes:
        lines = [self.first_line, *(f"{name}: {value}" for name, value in self.headers)]
        body = self.body.encode()
        return "\r\n".join((*lines, f"Content-Length: {len(body)}", "", "")).encode() + body


def parse(data: bytes) -> Message | None:
    """Return a message; None for what is none, such as a keep-alive."""
    head, separator, body = data.decode(errors="replace").partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    if not separator or "SIP/2.0" not in first:
        return None
    pairs = (line.partition(":") for line in lines if ":" in line)
    named = ((name.strip(), value.strip()) for name, _, value in pairs)
    headers = tuple((_NAMES.get(name.lower(), name), value) for name, value in named)
    return Message(first, tuple(each for each in headers if each[0] != _LENGTH), body)


def response(
    request: Message, status: str, tag: str, more: Sequence[tuple[str, str]] = (), body: str = ""
) -> Message:
    """Return a response, such as `200 OK`; `tag` is ours in the dialog."""
    recipient = request.header("To")
    if ";tag=" not in recipient:
        recipient = f"{recipient};tag={tag}"
    headers = (
        *(("Via", each) for each in request.all("Via")),
        *(("Record-Route", each) for each in request.all("Record-Route")),
        ("From", request.header("From")),
        ("To", recipient),
        ("Call-ID", request.header("Call-ID")),
        ("CSeq", request.header("CSeq")),
        *more,
    )
    return Message(f"SIP/2.0 {status}", headers, body)


def sdp(port: int, events_type: int) -> str:
    """Return a description of µ-law audio with telephone-event (RFC 4733)."""
    return "\r\n".join(
        (
            "v=0",
            f"o=- {port} {port} IN IP4 127.0.0.1",
            "s=-",
            "c=IN IP4 127.0.0.1",
            "t=0 0",
            f"m=audio {port} RTP/AVP 0 {events_type}",
            "a=rtpmap:0 PCMU/8000",
            f"a=rtpmap:{events_type} telephone-event/8000",
            f"a=fmtp:{events_type} 0-15",
            "a=ptime:20",
            "",
        )
    )


def media_address(body: str) -> tuple[str, int] | None:
    """Return where a description wants its audio; None if it is no IPv4 address and port."""
    port = re.search(r"^m=audio ([0-9]{1,5})\b", body, re.MULTILINE)
    host = re.search(r"^c=IN IP4 ([0-9]{1,3}(?:\.[0-9]{1,3}){3})\s*$", body, re.MULTILINE)
    if not port or not host or not 0 < int(port[1]) <= _MAX_PORT:
        return None  # a name would be looked up at each packet
    return host[1], int(port[1])


def events_type_of(body: str, default: int) -> int:
    """Return the payload type of telephone-event in an offer."""
    found = re.search(r"^a=rtpmap:([0-9]{1,3}) telephone-event/8000", body, re.MULTILINE)
    return int(found[1]) if found else default


def user_of(address: str) -> str:
    """Return the user part of a From or To header."""
    found = re.search(r"sips?:([^@;>]+)@", address)
    return "".join(filter(str.isprintable, found[1])) if found else ""  # it is shown in terminals


def hangup_cause(request: Message) -> str:
    """Return why a call was hung up, such as `normal clearing (16)`."""
    return _cause(request) or "no cause given"


def rejection(final: Message) -> str:
    """Return why a call was not answered: its status, and the cause if the PBX gives one."""
    text = f"{final.status} {final.reason}"
    cause = _cause(final)
    return f"{text}: {cause}" if cause else text


def _cause(message: Message) -> str:
    found = re.search(r"Q\.850 *; *cause=([0-9]{1,3})\b", message.header("Reason"))
    return f"{CAUSES.get(int(found[1]), 'cause')} ({found[1]})" if found else ""
