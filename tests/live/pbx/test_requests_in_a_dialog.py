"""Requests of a carrier within a call: without an answer, it takes the call for dead."""

import asyncio
import socket

import pytest

from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.phones.sip import SipMessage
from tests.harness.until import MAX_WAIT_S, until

REQUEST = """\
{method} {target} SIP/2.0
Via: SIP/2.0/UDP 127.0.0.1:{port};rport;branch=z9hG4bK-in-dialog-{method}
From: {sender}
To: {receiver}
Call-ID: {call_id}
CSeq: {sequence} {method}
Contact: <sip:phone@127.0.0.1:{port}>
Max-Forwards: 70
{more}Content-Length: 0

"""
BYE = """\
BYE sip:phone@127.0.0.1 SIP/2.0
Via: SIP/2.0/UDP 127.0.0.1:{port};branch=z9hG4bK-repeated
From: <sip:pbx@127.0.0.1>;tag=1
To: <sip:phone@127.0.0.1>;tag=2
Call-ID: earlier
CSeq: 2 BYE
Content-Length: 0

"""


INVITE = """\
{method} sip:{number}@127.0.0.1;transport=tcp SIP/2.0
Via: SIP/2.0/TCP 127.0.0.1:{port};branch=z9hG4bK-tcp-{method}
From: <sip:+4790000001@127.0.0.1>;tag=1
To: {to}
Call-ID: over-tcp-{port}
CSeq: 1 {method}
Contact: <sip:carrier@127.0.0.1:{port};transport=tcp>
Max-Forwards: 70
{body}"""
SDP = """\
v=0
o=- 1 1 IN IP4 127.0.0.1
s=-
c=IN IP4 127.0.0.1
t=0 0
m=audio 9 RTP/AVP 0
"""
NO_BODY = "Content-Length: 0\n\n"


@pytest.mark.parametrize(
    ("method", "more", "status"),
    [
        ("OPTIONS", "", 200),  # a session border controller's ping
        ("INFO", "", 200),  # the same of others
    ],
)
async def test_a_request_in_a_call_is_answered(
    lab: Lab, method: str, more: str, status: int
) -> None:
    """And the call goes on."""
    pause = {"type": "pause", "data": {"length": 60}}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to=phone.address, action=pause)
        await phone.wait_answered()
        assert await _answer(phone.messages[0], phone, method, more) == status
        assert not phone.is_ended
        await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
        await phone.wait_ended()


async def _answer(invite: SipMessage, phone: Phone, method: str, more: str) -> int:
    """Send a request within the dialog of an INVITE from another port; return its status."""
    answer = next(each for each in phone.dialog.answers if each.is_sent)
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as carrier:
        carrier.bind(("127.0.0.1", 0))
        carrier.setblocking(False)
        target = invite.header("Contact").strip("<>")
        text = REQUEST.format(
            method=method,
            target=target,
            port=carrier.getsockname()[1],
            sender=answer.header("To"),
            receiver=answer.header("From"),
            call_id=invite.header("Call-ID"),
            sequence=7,
            more=more,
        )
        host, _, port = (
            target.removeprefix("sip:").rpartition("@")[2].partition(";")[0].partition(":")
        )
        await loop.sock_sendto(carrier, text.replace("\n", "\r\n").encode(), (host, int(port)))
        async with asyncio.timeout(MAX_WAIT_S):
            reply = await loop.sock_recv(carrier, 4_096)
        return int(reply.split()[1])


async def test_a_phone_may_not_transfer_by_default(strict: Lab) -> None:
    """Its REFER is declined until the node has `PBX_AGENT_REFER=yes`, and the call goes on."""
    pause = {"type": "pause", "data": {"length": 60}}
    async with Phone.agent(strict.pbx, "1001") as phone:
        call = await strict.call(to="agent:1001", action=pause)
        await phone.wait_answered()
        await phone.refer("<sip:+15550100@127.0.0.1>")
        await until(lambda: _refer_statuses(phone) == [603], what="the answer to REFER")
        assert not phone.is_ended
        await strict.engine.rpc("POST", f"/calls/{call}/hangup", {})
        await phone.wait_ended()


def _refer_statuses(phone: Phone) -> list[int]:
    return [each.status for each in phone.messages if each.method == "REFER" and each.status]


async def test_a_bye_of_an_earlier_call(lab: Lab) -> None:
    """The phone answers it, and then the call that it is for."""
    async with Phone.ringing(lab.trunk_port) as phone:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as pbx:
            pbx.bind(("127.0.0.1", 0))
            request = BYE.format(port=pbx.getsockname()[1]).replace("\n", "\r\n")
            pbx.sendto(request.encode(), ("127.0.0.1", phone.port))
        pause = {"type": "pause", "data": {"length": 60}}
        call = await lab.call(to=phone.address, action=pause)
        await phone.pick_up()
        await phone.wait_answered()
        assert not phone.is_ended
        await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
        await phone.wait_ended()


async def test_a_call_over_tcp_is_ended_over_it(lab: Lab) -> None:
    """A carrier that calls over TCP hears of the end of its call on the same connection."""
    number = await lab.add_number({"type": "pause", "data": {"length": 1}})
    async with asyncio.timeout(MAX_WAIT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", lab.pbx.sip_port)
        port = writer.get_extra_info("sockname")[1]

        def send(method: str, to: str, body: str = NO_BODY) -> None:
            text = INVITE.format(method=method, number=number, port=port, to=to, body=body)
            writer.write(text.replace("\n", "\r\n").encode())

        length = len(SDP.replace("\n", "\r\n"))
        body = f"Content-Type: application/sdp\nContent-Length: {length}\n\n{SDP}"
        send("INVITE", f"<sip:{number}@127.0.0.1>", body)
        while not (answer := await _read(reader)).first_line.startswith("SIP/2.0 200"):
            pass
        send("ACK", answer.header("To"))
        ended = await _read(reader)
        writer.close()
    assert ended.first_line.startswith("BYE ")


async def _read(reader: asyncio.StreamReader) -> SipMessage:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    found = SipMessage(0, False, head)
    await reader.readexactly(int(found.header("Content-Length") or 0))
    return found
