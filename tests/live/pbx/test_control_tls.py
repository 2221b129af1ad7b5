"""ARI and AMI of a real PBX with a certificate: over TLS, and not in clear text."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from engine.ami.client import open_ami
from engine.common.tls import client_context
from tests.harness import Pbx

CERTIFICATES = Path(__file__).parents[3] / "docs/operations/certificates.sh"


class TlsPbx(Pbx):
    """A node with a certificate for ARI and AMI, made as operators make it."""

    def __init__(self, folder: Path, tls: Path) -> None:
        paths = {"CERT": tls / "pbx/tls.crt", "KEY": tls / "pbx/tls.key"}
        settings = {f"CONTROL_TLS_{name}": str(path) for name, path in paths.items()}
        super().__init__(folder, settings=settings)
        self.url = f"https://127.0.0.1:{self.ports.ari}"
        self.trust = client_context(tls / "ca.crt")

    async def is_ready(self) -> bool:
        """Return whether ARI answers over TLS."""
        try:
            return await self.ping() == 200
        except aiohttp.ClientError:
            return False

    async def ping(self) -> int:
        """Return the status of a request to ARI."""
        login = aiohttp.encode_basic_auth(self.ari_user, self.ari_password)
        async with (
            aiohttp.ClientSession(headers={"Authorization": login}) as http,
            http.get(f"{self.url}/ari/asterisk/ping", ssl=self.trust) as reply,
        ):
            return reply.status


@pytest.fixture
async def pbx(tmp_path: Path) -> AsyncIterator[TlsPbx]:
    """Start a node with a certificate of its own CA."""
    tls = tmp_path / "tls"
    command = (CERTIFICATES, tls, "pbx=IP:127.0.0.1")
    await asyncio.to_thread(subprocess.run, command, check=True)
    async with TlsPbx(tmp_path / "pbx1", tls) as node:
        yield node


async def test_ari_and_ami_over_https(pbx: TlsPbx) -> None:
    """On one port, with a certificate that the engine verifies."""
    assert await pbx.ping() == 200
    async with open_ami(pbx.url, pbx.ami_user, pbx.passwords.ami, pbx.trust) as ami:
        assert (await ami.ask("CoreStatus", {})).is_ok


async def test_ami_over_tls(pbx: TlsPbx) -> None:
    """The connection by which an engine monitors its node."""
    reader, writer = await asyncio.open_connection("127.0.0.1", pbx.ami_port, ssl=pbx.trust)
    await reader.readline()  # the banner
    login = f"Action: Login\r\nUsername: {pbx.ami_user}\r\nSecret: {pbx.passwords.ami}\r\n\r\n"
    writer.write(login.encode())
    assert (await reader.readline()).decode().strip() == "Response: Success"
    writer.close()


async def test_no_password_travels_in_clear_text(pbx: TlsPbx) -> None:
    """Neither port has an answer for a client without TLS."""
    for port in (pbx.ports.ari, pbx.ami_port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /ari/asterisk/ping HTTP/1.1\r\n\r\n")
        with pytest.raises(asyncio.IncompleteReadError):
            await reader.readexactly(100)
        writer.close()
