"""Keys that a phone sends as SIP INFO, within the dialog of its call."""

import asyncio
import socket
import uuid

from tests.harness.phones.phone import Phone
from tests.harness.until import MAX_WAIT_S

REQUEST = """\
INFO {target} SIP/2.0
Via: SIP/2.0/UDP 127.0.0.1:{port};rport;branch=z9hG4bK{branch}
From: {sender}
To: {receiver}
Call-ID: {call_id}
CSeq: {sequence} INFO
Contact: <sip:phone@127.0.0.1:{port}>
Max-Forwards: 70
Content-Type: application/dtmf-relay
Content-Length: {length}

{body}"""
FIRST_SEQUENCE = 100  # above those of SIPp's requests


class InfoKeys:
    """Sends the keys of a called phone from ports of their own."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._sequence = FIRST_SEQUENCE

    async def send(self, key: str, held_ms: int) -> None:
        """Send a key, and wait for the response."""
        invite = self._phone.messages[0]
        answer = self._phone.dialog.answers[0]
        target = invite.header("Contact").strip("<>")
        self._sequence += 1
        body = f"Signal={key}\nDuration={held_ms}\n"
        host, _, port = target.removeprefix("sip:").rpartition("@")[2].partition(":")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            line.bind(("127.0.0.1", 0))
            line.setblocking(False)
            text = REQUEST.format(
                target=target,
                port=line.getsockname()[1],
                branch=uuid.uuid4().hex,
                sender=answer.header("To"),
                receiver=answer.header("From"),
                call_id=invite.header("Call-ID"),
                sequence=self._sequence,
                length=len(body) + body.count("\n"),
                body=body,
            )
            address = (host, int(port.partition(";")[0]))
            loop = asyncio.get_running_loop()
            await loop.sock_sendto(line, text.replace("\n", "\r\n").encode(), address)
            async with asyncio.timeout(MAX_WAIT_S):
                response = await loop.sock_recv(line, 4_096)
        assert response.startswith(b"SIP/2.0 200 ")
