"""The SIP of one caller: dozens of them share this process, as SIPp would take one for each."""

import asyncio
import secrets
import socket

from tools.bench.ivr.phone import ACK, INVITE
from tools.bench.ivr.rtp import SDP

TIMEOUT_S = 20.0
_ECHOED = ("Via:", "From:", "To:", "Call-ID:", "CSeq:")


class SipCall:
    """A call to a number; `is_ended` once the other party has hung up."""

    def __init__(self) -> None:
        self.is_ended = False
        self._answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.setblocking(False)

    async def call(self, sip_port: int, number: str, media_port: int) -> int:
        """Call a number; return the port of its audio. Raises RuntimeError if it is rejected."""
        self._socket.connect(("127.0.0.1", sip_port))
        names = {
            "number": number,
            "pbx": sip_port,
            "port": self._socket.getsockname()[1],
            "call": secrets.token_hex(8),
        }
        asyncio.get_running_loop().add_reader(self._socket, self._read)
        sdp = SDP.format(port=media_port)
        self._socket.send(INVITE.format(**names, length=len(sdp), sdp=sdp).encode())
        async with asyncio.timeout(TIMEOUT_S):
            text = await self._answered
        to = next(line for line in text.split("\r\n") if line.startswith("To:"))
        self._socket.send(ACK.format(**names, to=to).encode())
        return int(text.partition("m=audio ")[2].split(" ", 1)[0])

    def close(self) -> None:
        """Say nothing more."""
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()

    def _read(self) -> None:
        while True:
            try:
                text = self._socket.recv(4096).decode()
            except BlockingIOError:
                return
            except ConnectionRefusedError:  # the PBX is down
                continue
            self._take(text)

    def _take(self, text: str) -> None:
        first, status, _ = text.split(" ", 2)
        if first == "BYE":
            self.is_ended = True
            echoed = [line for line in text.split("\r\n") if line.startswith(_ECHOED)]
            self._socket.send("\r\n".join(["SIP/2.0 200 OK", *echoed, "", ""]).encode())
        elif self._answered.done() or status.startswith("1"):
            pass  # it rings, or its answer came twice
        elif status == "200":
            self._answered.set_result(text)
        else:
            self._answered.set_exception(RuntimeError(f"a call was answered with {status}"))
