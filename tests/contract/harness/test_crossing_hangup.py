"""A phone that hangs up while the other party says something: its program ends, too."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from typing import cast

import pytest

from tests.harness.phones.phone import Phone
from tests.harness.phones.sip import SipMessage
from tests.harness.ports import free_port

pytestmark = pytest.mark.skipif(not shutil.which("sipp"), reason="SIPp is not on this machine")
COPIED = ("Via", "From", "To", "Call-ID", "CSeq")  # from a request to its response


class Peer(asyncio.DatagramProtocol):
    """The other party of one call, without a PBX: it sends what a test says."""

    def __init__(self, phone_port: int) -> None:
        self._phone = phone_port
        self._received: asyncio.Queue[str] = asyncio.Queue()
        self._tag = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)  # not uvloop's base class
        self.port = transport.get_extra_info("sockname")[1]

    def datagram_received(self, data: bytes, _address: object) -> None:
        self._received.put_nowait(data.decode())

    async def wait_for(self, first_line: str) -> str:
        """Return the next message that begins so."""
        while not (message := await self._received.get()).startswith(first_line):
            pass
        return message

    async def call(self) -> None:
        """Invite the phone, and acknowledge its answer."""
        self.request("INVITE", 1)
        answer = await self.wait_for("SIP/2.0 200")
        self._tag = SipMessage(0, False, answer).header("To").partition(";")[2]
        self.request("ACK", 1)

    def request(self, method: str, number: int) -> None:
        phone = f"sip:phone@127.0.0.1:{self._phone}"
        self._send(
            f"{method} {phone} SIP/2.0",
            f"Via: SIP/2.0/UDP 127.0.0.1:{self.port};branch=z9hG4bK{method}{number}",
            "From: <sip:peer@127.0.0.1>;tag=peer",
            f"To: <{phone}>" + (f";{self._tag}" if self._tag else ""),
            "Call-ID: crossing",
            f"CSeq: {number} {method}",
            f"Contact: <sip:peer@127.0.0.1:{self.port}>",
            "Max-Forwards: 70",
        )

    def respond(self, request: str, status: str) -> None:
        headers = [each for each in request.split("\r\n") if each.partition(":")[0] in COPIED]
        self._send(f"SIP/2.0 {status}", *headers)

    def _send(self, *lines: str) -> None:
        text = "\r\n".join((*lines, "Content-Length: 0", "\r\n"))
        self._transport.sendto(text.encode(), ("127.0.0.1", self._phone))


@pytest.fixture
async def phone() -> AsyncIterator[Phone]:
    """Run a phone that answers at once."""
    async with Phone.answering(free_port()) as phone:
        yield phone


@pytest.fixture
async def peer(phone: Phone) -> AsyncIterator[Peer]:
    """Connect the phone with a peer."""
    loop = asyncio.get_running_loop()
    transport, peer = await loop.create_datagram_endpoint(
        lambda: Peer(phone.port), local_addr=("127.0.0.1", 0)
    )
    await peer.call()
    yield peer
    transport.close()


async def hang_up(
    phone: Phone, peer: Peer, cross: Callable[[], None]
) -> tuple[str, asyncio.Task[None]]:
    """Let the phone hang up and the peer do something before it responds; return the BYE."""
    ending = asyncio.create_task(phone.hang_up())
    bye = await peer.wait_for("BYE")
    cross()
    return bye, ending


async def test_both_hang_up(phone: Phone, peer: Peer) -> None:
    """Each responds to the other."""
    bye, ending = await hang_up(phone, peer, lambda: peer.request("BYE", 2))
    await peer.wait_for("SIP/2.0 200")
    peer.respond(bye, "200 OK")
    await ending


@pytest.mark.parametrize(
    ("method", "status"), [("NOTIFY", "SIP/2.0 200"), ("INVITE", "SIP/2.0 481")]
)
async def test_a_request_comes_too_late(phone: Phone, peer: Peer, method: str, status: str) -> None:
    """Of a transfer's progress, or of another media; it gets a response."""
    bye, ending = await hang_up(phone, peer, lambda: peer.request(method, 2))
    await peer.wait_for(status)
    if method == "INVITE":
        peer.request("ACK", 2)
    peer.respond(bye, "200 OK")
    await ending


async def test_the_peer_knows_no_such_call(phone: Phone, peer: Peer) -> None:
    """It has ended there already."""
    bye, ending = await hang_up(phone, peer, lambda: None)
    peer.respond(bye, "481 Call/Transaction Does Not Exist")
    await ending
