"""A phone whose call ends: its program ends however the hangups cross, and it is silent."""

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import cast

import pytest

from tests.harness.phones.g711 import ULAW
from tests.harness.phones.phone import Phone
from tests.harness.phones.rtp import RtpLine
from tests.harness.phones.sip import SipMessage
from tests.harness.ports import free_port
from tests.harness.until import until

pytestmark = pytest.mark.skipif(not shutil.which("sipp"), reason="SIPp is not on this machine")
_LINES = ("v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0")
SDP = "".join(f"{line}\r\n" for line in (*_LINES, "m=audio {} RTP/AVP 0"))
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

    async def call(self, rtp_port: int = 0) -> None:
        """Invite the phone, which sends its audio to a port, and acknowledge its answer."""
        self.request("INVITE", 1, SDP.format(rtp_port) if rtp_port else "")
        answer = await self.wait_for("SIP/2.0 200")
        self._tag = SipMessage(0, False, answer).header("To").partition(";")[2]
        self.request("ACK", 1)

    def request(self, method: str, number: int, body: str = "") -> None:
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
            *(["Content-Type: application/sdp"] if body else []),
            body=body,
        )

    def respond(self, request: str, status: str) -> None:
        headers = [each for each in request.split("\r\n") if each.partition(":")[0] in COPIED]
        self._send(f"SIP/2.0 {status}", *headers)

    def _send(self, *lines: str, body: str = "") -> None:
        text = "\r\n".join((*lines, f"Content-Length: {len(body)}", "", body))
        self._transport.sendto(text.encode(), ("127.0.0.1", self._phone))


@pytest.fixture
async def phone() -> AsyncIterator[Phone]:
    """Run a phone that answers at once, and speaks."""
    async with Phone.answering(free_port(), tone_hz=600) as phone:
        yield phone


@pytest.fixture
async def stranger(phone: Phone) -> AsyncIterator[Peer]:
    """Return a peer of the phone that has not called it yet."""
    loop = asyncio.get_running_loop()
    transport, peer = await loop.create_datagram_endpoint(
        lambda: Peer(phone.port), local_addr=("127.0.0.1", 0)
    )
    yield peer
    transport.close()


@pytest.fixture
async def peer(stranger: Peer) -> Peer:
    """Connect the phone with a peer."""
    await stranger.call()
    return stranger


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


async def test_a_phone_is_silent_after_its_call(phone: Phone, stranger: Peer) -> None:
    """The port that it spoke to may be that of another call, which would lose its audio."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind(("127.0.0.1", 0))
        line.setblocking(False)
        await stranger.call(line.getsockname()[1])
        await until(lambda: received(line) > 0, what="the phone's audio")
        stranger.request("BYE", 2)
        await stranger.wait_for("SIP/2.0 200")
        await phone.wait_ended()
        received(line)
        await phone.wait_spoken(200)
        assert received(line) == 0


def received(line: socket.socket) -> int:
    """Return the number of packets that have arrived since the last time."""
    count = 0
    with suppress(BlockingIOError):
        while line.recv(2048):
            count += 1
    return count


@pytest.mark.parametrize("speaks", [False, True])
async def test_a_phone_that_has_stopped_stays_silent(speaks: bool) -> None:
    """Whether its answer is known before that or after, and if the answer is repeated."""
    stopped, other = RtpLine(700, ULAW), RtpLine(900, ULAW)
    port = free_port()
    try:
        for line in (stopped, other):
            await line.open()
        if speaks:
            stopped.speak_to(port)
            await until(lambda: stopped.spoken_ms > 0, what="its first packet")
        stopped.stop_sending()
        spoken_ms = stopped.spoken_ms
        for line in (stopped, other):
            line.speak_to(port)
        await until(lambda: other.spoken_ms >= 100, what="packets of the other line")
        assert stopped.spoken_ms == spoken_ms
    finally:
        for line in (stopped, other):
            line.close()
