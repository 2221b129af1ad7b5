"""A REGISTER over UDP with a chosen digest, password, address and Call-ID: SIPp sends none such."""

import asyncio
import hashlib
import re
import secrets

from msgspec import Struct

from tests.harness.pbx.asterisk import Pbx
from tests.harness.ports import free_port
from tests.harness.until import MAX_WAIT_S

BYTES = {"errors": "surrogateescape"}  # a login may have any
HASHES = {"MD5": hashlib.md5, "SHA-256": hashlib.sha256}


class Login(Struct, frozen=True):
    """What a phone sends; `response` replaces the right answer to the challenge.

    `username` is that of the digest, by default the agent; `to` whose address it registers. The
    contact ends with `parameters`; `headers` are more of them; `via` replaces the address in Via.
    """

    agent: str
    password: str
    algorithm: str = "MD5"
    host: str = "127.0.0.1"
    call_id: str = ""
    response: str = ""
    username: str = ""
    to: str = ""
    parameters: str = ""
    headers: tuple[str, ...] = ()
    via: str = ""


class _Answers(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.received: asyncio.Queue[str] = asyncio.Queue()

    def datagram_received(self, data: bytes, _addr: object) -> None:
        if data.startswith(b"SIP/2.0"):
            self.received.put_nowait(data.decode(**BYTES))


async def try_login(pbx: Pbx, login: Login) -> int:
    """Register a phone; returns the status of the final response."""
    port = free_port()
    udp, answers = await asyncio.get_running_loop().create_datagram_endpoint(
        _Answers, local_addr=(login.host, port), remote_addr=("127.0.0.1", pbx.sip_port)
    )
    call_id = login.call_id or secrets.token_hex(8)
    try:
        address = f"{login.host}:{port}"
        contact, via = address + login.parameters, f"UDP {login.via or address}"
        udp.sendto(register_request(pbx, login, via, contact, call_id).encode(**BYTES))
        async with asyncio.timeout(MAX_WAIT_S):
            first = await answers.received.get()
        if not (answer := authorization(first, pbx, login)):
            return _status(first)
        udp.sendto(register_request(pbx, login, via, contact, call_id, answer).encode(**BYTES))
        async with asyncio.timeout(MAX_WAIT_S):
            return _status(await answers.received.get())
    finally:
        udp.close()


def _status(response: str) -> int:
    return int(response.split(" ", 2)[1])


def register_request(  # noqa: PLR0913, PLR0917 - the parts of a request
    pbx: Pbx, login: Login, via: str, contact: str, call_id: str, answer: str = ""
) -> str:
    """Return a REGISTER; `via` is transport and address, `answer` the header for a challenge."""
    tag = secrets.token_hex(4)
    host = f"127.0.0.1:{pbx.sip_port}"
    lines = (
        f"REGISTER sip:{host} SIP/2.0",
        f"Via: SIP/2.0/{via};branch=z9hG4bK{secrets.token_hex(8)};rport",
        f"From: <sip:{login.agent}@{host}>;tag={tag}",
        f"To: <sip:{login.to or login.agent}@{host}>",
        f"Call-ID: {call_id}",
        f"CSeq: {2 if answer else 1} REGISTER",
        f"Contact: <sip:{login.agent}@{contact}>",
        *login.headers,
        *((answer,) if answer else ()),
        *("Expires: 600", "Max-Forwards: 70", "Content-Length: 0", "", ""),
    )
    return "\r\n".join(lines)


def authorization(
    challenge: str, pbx: Pbx, login: Login, method: str = "REGISTER", address: str = ""
) -> str:
    """Return the answer to a challenge; empty if it does not offer the digest."""
    offers = [line for line in challenge.splitlines() if line.startswith("WWW-Authenticate")]
    offer = next((line for line in offers if f"algorithm={login.algorithm}" in line), "")
    if not offer:
        return ""
    fields = dict(re.findall(r'(\w+)="?([^",]+)"?', offer))
    uri = address or f"sip:127.0.0.1:{pbx.sip_port}"

    def digest(*parts: str) -> str:
        return HASHES[login.algorithm](":".join(parts).encode()).hexdigest()

    username = login.username or login.agent
    secret = digest(username, fields["realm"], login.password)
    request = digest(method, uri)
    right = digest(secret, fields["nonce"], "00000001", "abc", "auth", request)
    return (
        f'Authorization: Digest username="{username}", realm="{fields["realm"]}",'
        f' nonce="{fields["nonce"]}", uri="{uri}", response="{login.response or right}",'
        f' algorithm={login.algorithm}, qop=auth, nc=00000001, cnonce="abc",'
        f' opaque="{fields.get("opaque", "")}"'
    )
