"""SIP over a secure websocket for phones in browsers: only REST layers reach it."""

import asyncio
import os
import re
import ssl
from collections.abc import AsyncIterator

import aiohttp
import pytest
import pytest_asyncio

from tests.harness.pbx.tls_node import TlsPbx
from tests.harness.phones.digest_login import Login
from tests.harness.phones.websocket_phone import WebsocketPhone
from tests.harness.servers.tls_files import TlsFiles

ENGINE, PROXY, PHONE = "127.0.0.1", "127.0.0.2", "127.0.0.3"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pbx(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TlsPbx]:
    """Run a node for phones in browsers, with a certificate."""
    folder = tmp_path_factory.mktemp("websocket")
    files = await asyncio.to_thread(TlsFiles, folder / "tls", ["pbx"])
    settings = {"PHONE_WEBSOCKET": "yes", "AGENT_NETS": PHONE, "AGENT_SRTP": "webrtc"}
    async with TlsPbx(folder / "pbx1", files, settings=settings) as found:
        yield found


async def status(pbx: TlsPbx, target: str, address: str) -> int:
    """Return the status of a request from an address, with a target that no client corrects."""
    port = pbx.ports.ari
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=pbx.files.trust, local_addr=(address, 0)
    )
    writer.write(f"GET {target} HTTP/1.1\r\nHost: pbx\r\nConnection: close\r\n\r\n".encode())
    line = await reader.readline()
    writer.close()
    return int(line.split()[1])


def spellings(handler: str) -> set[str]:
    """Return targets that Asterisk takes for a path: case does not count."""
    found = {handler, handler.upper(), handler.title(), handler[0].upper() + handler[1:]}
    found |= {handler[0] + handler[1:].upper(), handler.swapcase()}
    return {f"/{each}{end}" for each in found for end in ("", "/", "?a=1", "/x", "%00")}


def disguises(handler: str) -> set[str]:
    """Return targets that others take for a path, and Asterisk for none."""
    first = f"%{ord(handler[0]):02x}"
    rest = handler[1:]
    paths = (
        f"//{handler}",
        f"/./{handler}",
        f"/x/../{handler}",
        f"/{first}{rest}",
        f"/%2f{handler}",
    )
    return {*paths, handler, f"http://pbx/{handler}", f"/{first.upper()}{rest.upper()}"}


async def test_a_phone_registers_and_is_called(pbx: TlsPbx) -> None:
    """With its password, over wss; the call is offered as browsers need it, DTLS and ICE."""
    login = Login("1001", pbx.passwords.agents)
    async with WebsocketPhone.connected(pbx, login, pbx.files.trust) as phone:
        assert await phone.register() == "SIP/2.0 200 OK"
        calling = asyncio.create_task(call(pbx, "1001"))
        invite = await phone.receive("INVITE")
        await phone.decline(invite)
        await calling
    assert "m=audio " in invite
    assert "UDP/TLS/RTP/SAVPF" in invite
    lines = {line.partition(":")[0] for line in invite.splitlines()}
    assert {"a=fingerprint", "a=ice-ufrag", "a=candidate", "a=rtcp-mux"} <= lines


async def test_a_wrong_password(pbx: TlsPbx) -> None:
    """It is refused, as over other transports."""
    login = Login("1001", "wrong")
    async with WebsocketPhone.connected(pbx, login, pbx.files.trust) as phone:
        assert (await phone.register()).startswith("SIP/2.0 401")


async def test_a_renewed_certificate(pbx: TlsPbx) -> None:
    """Two reloads are enough, for ARI and AMI: a phone that is connected stays so."""
    login = Login("1001", pbx.passwords.agents)
    async with WebsocketPhone.connected(pbx, login, pbx.files.trust) as phone:
        assert await phone.register() == "SIP/2.0 200 OK"
        ports = (pbx.ports.ari, pbx.ami_port)
        before = [await shown_certificate(port) for port in ports]
        pbx.files.renew("pbx", days=90)
        await pbx.cli("module reload http")
        os.utime(pbx.folder / "etc/manager.conf")  # else Asterisk reads nothing again
        await pbx.cli("manager reload")
        after = [await shown_certificate(port) for port in ports]
        assert after[0] == after[1] == pbx.files.cert("pbx").read_text()
        assert after[0] not in before
        assert await phone.register() == "SIP/2.0 200 OK"


async def shown_certificate(port: int) -> str:
    """Return the certificate that a listener shows, in PEM."""
    return await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", port))


async def call(pbx: TlsPbx, agent: str) -> None:
    """Have the node call a phone."""
    headers = {"Authorization": aiohttp.encode_basic_auth(pbx.ari_user, pbx.ari_password)}
    connector = aiohttp.TCPConnector(ssl=pbx.files.trust)
    url = f"{pbx.url}/ari/channels?endpoint=PJSIP/{agent}&app=test"
    async with (
        aiohttp.ClientSession(headers=headers, connector=connector) as session,
        session.post(url) as reply,
    ):
        assert reply.status == 200, await reply.text()


async def test_each_path_has_its_clients(pbx: TlsPbx) -> None:
    """/ws is for REST layers, every other path for engines, and phones reach none.

    However it is spelled: restrictions are compared by case, and handlers are not.
    """
    shown = await pbx.cli("http show status")
    handlers = set(re.findall(r"^/([a-z]+)", shown, re.MULTILINE))
    assert {"ari", "media", "rawman", "ws"} <= handlers
    for handler in handlers | {"httpstatus", "static", "phoneprov", "metrics"}:
        for address in {ENGINE, PROXY, PHONE} - {PROXY if handler == "ws" else ENGINE}:
            for target in spellings(handler):
                assert await status(pbx, target, address) == 403, (target, address)
            for target in disguises(handler):
                assert await status(pbx, target, address) in {400, 403, 404}, (target, address)
    for target in ("/ari/asterisk/ping", "/ARI/asterisk/ping"):
        assert await status(pbx, target, ENGINE) == 401  # it is asked for its password
    for target in ("/ws", "/WS"):
        assert await status(pbx, target, PROXY) == 426  # it upgrades to a websocket
