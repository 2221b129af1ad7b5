"""A phone with a login of its own that tries to send the PBX's calls to a carrier.

It writes its SIP by hand: every form of a contact, and every header by which a request could be
sent, or shown, as somebody else's.
"""

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.digest_login import Login, authorization

TIMEOUT_S = 3.0
_COPIED = ("via:", "from:", "to:", "call-id:", "cseq:")
_TAG = re.compile(r"^To:[^\r\n]*?;tag=([^;\r\n]+)", re.MULTILINE)
ACCEPTED, UNAUTHORIZED = 200, 401
_SDP = (
    "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
    "m=audio 9 RTP/AVP 0\r\n"
)
TARGET = "+18765551234"
# What a REGISTER says beside the login: {own} and {carrier} are addresses, host and port.
REGISTRATIONS: tuple[tuple[str, ...], ...] = (
    ("Contact: <sip:{target}@{carrier}>",),
    ("Contact: <sip:none@{own}>;expires=0, <sip:{target}@{carrier}>",),
    ("Contact: <sip:none@{own}>;expires=0", "m: <sip:{target}@{carrier}>;expires=3600"),
    ('Contact: "a\\", <sip:b@{own}>" <sip:a@{own}>;expires=0, sip:{target}@{carrier}',),
    ("Contact: <sip:none@{own}>;expires=0, <sip:{target}@{carrier};user=phone;lr;ob>",),
    ("Contact: <sip:none@{own}>;expires=0, <sip:{target}@{carrier};transport=udp>;q=1.0",),
    ("Contact: <sip:none@{own}>;expires=0, <sip:{target}@{carrier};transport=ws>",),
    ("Contact: <sip:none@{own}>;expires=0, <sips:{target}@{carrier}>",),
    ("Contact: <sip:none@{own}>;expires=0, <sip:%2b18765551234@{carrier}>",),
    ("Contact: <sip:none@{own}>;expires=0, <sip:{target}@localhost:{port}>",),
    ("Contact: <sip:none@{own}>;expires=0, <sip:{target}@{carrier};x-ast-orig-host={own}>",),
    ("Contact: <sip:{target}@{own};x-ast-orig-host={carrier}>",),
    ("Contact: <sip:a@{own};maddr={host}>",),
    ("Contact: <sip:none@{own}>;expires=0, <sip:a@{own};maddr={host}>",),
    ("Contact: <sip:a@{own}?Route=%3Csip%3A{carrier}%3Blr%3E>",),
    ('Contact: <sip:none@{own}>;expires=0, <sip:{carrier};x="@{own}">',),
    ("Contact: <sip:none@{own}>;expires=0, <sip:{carrier},sip:a@{own}>",),
    ("Contact: <sip:none@{own}>;expires=0, <sip:{target}@{carrier}>",
     "Via: SIP/2.0/UDP {carrier};branch=z9hG4bKforged"),
    ("Record-Route: <sip:{own};lr>", "Contact: <sip:{target}@{carrier}>"),
    ("Route: <sip:{carrier};lr>", "Contact: <sip:a@{own}>"),
    ("Supported: path, outbound", "Path: <sip:{carrier};lr>", "Contact: <sip:a@{own}>"),
    ('Contact: <sip:a@{own};ob>;reg-id=1;+sip.instance="<urn:uuid:0>"',
     'Contact: <sip:{target}@{carrier};ob>;reg-id=2;+sip.instance="<urn:uuid:1>"'),
    ("Expires: 0", "Contact: <sip:a@{own}>", "Contact: <sip:{target}@{carrier}>;expires=600"),
    ("Contact: *", "Contact: <sip:{target}@{carrier}>", "Expires: 0"),
    ("Contact: <tel:{target}>",),
    ("Contact: <sip:{target}@{own}>",),  # a number, but at its own address
)  # fmt: skip
# What an INVITE says beside the login; the first line may be a request address.
INVITES: tuple[tuple[str, ...], ...] = (
    ("sip:{target}@{pbx}",),
    ("sip:{target}@{carrier}",),
    ("sip:{target}@{pbx}", "Route: <sip:{carrier};lr>"),
    ("sip:{target}@{pbx};maddr={host}",),
    ("sip:{number}@{pbx}", "Remote-Party-ID: <sip:a@b>;party=called, <sip:+4711@b>;party=calling"),
    ("sip:{number}@{pbx}", "P-Asserted-Identity: <sip:+4711111111@b>", "Privacy: none"),
    ("sip:{number}@{pbx}", "Diversion: <sip:+4711111111@b>;reason=unconditional"),
    ("sip:{number}@{pbx}", "History-Info: <sip:{target}@{carrier}>;index=1"),
    ("sip:{number}@{pbx}", "Replaces: a;to-tag=b;from-tag=c"),
    ("sip:{number}@{pbx}", "r: <sip:{target}@{carrier}>", "Referred-By: <sip:{target}@{pbx}>"),
)  # fmt: skip
# What a phone says within its call: the address to which further requests go.
REFRESHES: tuple[tuple[str, ...], ...] = (
    ("INVITE", "Record-Route: <sip:{own};lr>", "Contact: <sip:{target}@{carrier}>",
     "Supported: timer", "Session-Expires: 90;refresher=uas"),
    ("UPDATE", "Record-Route: <sip:{own};lr>", "Contact: <sip:{target}@{carrier}>"),
    ("INVITE", "Contact: <sip:{target}@{own}>, <sip:{target}@{carrier}>"),
    ("REFER", "Contact: <sip:a@{own}>", "Refer-To: <sip:{target}@{carrier}>"),
)  # fmt: skip


class HostilePhone(asyncio.DatagramProtocol):
    """One SIP socket. It declines calls, or forwards them to the carrier."""

    def __init__(self, pbx: Pbx, name: str, password: str, carrier: int) -> None:
        self.rang = 0
        self._pbx = pbx
        self._login = Login(name, password)
        self._replies: asyncio.Queue[str] = asyncio.Queue()
        self._transport: asyncio.DatagramTransport | None = None
        self._number = 0
        self._tags: dict[str, str] = {}  # of the other side, by Call-ID
        self._values = {
            "host": "127.0.0.1",
            "port": str(carrier),
            "carrier": f"127.0.0.1:{carrier}",
            "pbx": f"127.0.0.1:{pbx.sip_port}",
            "target": TARGET,
        }

    def connection_made(self, transport: Any) -> None:
        host, port = transport.get_extra_info("sockname")[:2]
        self._transport = transport
        self._values["own"] = f"{host}:{port}"

    def datagram_received(self, data: bytes, _address: object) -> None:
        """Keep a reply; answer a request, a call with the carrier's address."""
        text = data.decode(errors="replace")
        if text.startswith("SIP/2.0"):
            self._replies.put_nowait(text)
            return
        status = "200 OK"
        if text.startswith("INVITE"):
            self.rang += 1
            status = "302 Moved Temporarily"
        if not text.startswith("ACK"):
            kept = [each for each in text.split("\r\n") if each.lower().startswith(_COPIED)]
            contact = self._filled("Contact: <sip:{target}@{carrier}>")
            tagged = [f"{each};tag=x" if _needs_tag(each) else each for each in kept]
            self._send(f"SIP/2.0 {status}", *tagged, contact)

    async def register(self, lines: Sequence[str]) -> int:
        """Send a REGISTER with some headers; return the status of the final response."""
        more = () if any(each.startswith("Expires") for each in lines) else ("Expires: 600",)
        address = f"sip:{self._values['pbx']}"
        return await self._ask("REGISTER", address, (*map(self._filled, lines), *more))

    async def call(self, lines: Sequence[str], number: str) -> int:
        """Send an INVITE, and what refreshes its target if it is answered; return its status."""
        self._values["number"] = number
        address, *headers = map(self._filled, lines)
        dialog = f"{secrets.token_hex(8)}@drill"
        contact = self._filled("Contact: <sip:a@{own}>")
        status = await self._ask("INVITE", address, (*headers, contact), dialog, _SDP)
        if status == ACCEPTED:
            for method, *refresh in REFRESHES:
                body = _SDP if method in {"INVITE", "UPDATE"} else ""
                headers = list(map(self._filled, refresh))
                await self._ask(method, address, headers, dialog, body)
        return status

    async def _ask(
        self, method: str, address: str, headers: Sequence[str], dialog: str = "", sdp: str = ""
    ) -> int:
        """Send a request, with a login if it is asked for; return the final status, 0: none."""
        dialog = dialog or secrets.token_hex(8)
        status, login = 0, ""
        for _ in range(2):
            self._number += 1
            branch = secrets.token_hex(8)
            more = [*headers, *([login] if login else [])]
            self._write(method, address, dialog, branch, more, sdp)
            reply = await self._final(method)
            status = int(reply.split(" ", 2)[1]) if reply else 0
            if status == ACCEPTED and (tag := _TAG.search(reply)):
                self._tags[dialog] = tag[1]
            if method == "INVITE" and reply:
                self._write("ACK", address, dialog, branch, [], "")
            if status != UNAUTHORIZED:
                break
            login = authorization(reply, self._pbx, self._login, method, address)
        return status

    async def _final(self, method: str) -> str:
        """Return the final response to a request; empty without one."""
        with suppress(TimeoutError):
            async with asyncio.timeout(TIMEOUT_S):
                while True:
                    reply = await self._replies.get()
                    is_final = not reply.startswith("SIP/2.0 1")
                    if is_final and re.search(rf"^CSeq: [0-9]+ {method}\b", reply, re.MULTILINE):
                        return reply
        return ""

    def _write(  # noqa: PLR0913, PLR0917 - the parts of a request
        self, method: str, address: str, dialog: str, branch: str, headers: Sequence[str], sdp: str
    ) -> None:
        user = f"<sip:{self._login.agent}@{self._values['pbx']}>"
        to = f"<{address}>" if method != "REGISTER" else user
        tag = f";tag={self._tags[dialog]}" if dialog in self._tags else ""
        self._send(
            f"{method} {address} SIP/2.0",
            f"Via: SIP/2.0/UDP {self._values['own']};branch=z9hG4bK{branch};rport",
            f"From: {user};tag={dialog[:8]}",
            f"To: {to}{tag}",
            f"Call-ID: {dialog}",
            f"CSeq: {self._number} {method}",
            "Max-Forwards: 70",
            *headers,
            *(("Content-Type: application/sdp",) if sdp else ()),
            body=sdp,
        )

    def _send(self, *lines: str, body: str = "") -> None:
        if self._transport is not None:
            text = "\r\n".join((*lines, f"Content-Length: {len(body)}", "", body))
            self._transport.sendto(text.encode(), ("127.0.0.1", self._pbx.sip_port))

    def _filled(self, text: str) -> str:
        for name, value in self._values.items():
            text = text.replace(f"{{{name}}}", value)
        return text


def _needs_tag(line: str) -> bool:
    return line.lower().startswith("to:") and ";tag=" not in line


@asynccontextmanager
async def open_hostile_phone(
    pbx: Pbx, name: str, password: str, carrier: int
) -> AsyncIterator[HostilePhone]:
    """Open its socket; `carrier` is the carrier's port."""
    phone = HostilePhone(pbx, name, password, carrier)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: phone, local_addr=("127.0.0.1", 0))
    try:
        yield phone
    finally:
        transport.close()
