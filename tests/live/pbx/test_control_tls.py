"""ARI and AMI of a real PBX with a certificate: over TLS, and not in clear text."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from engine.ami.client import open_ami
from tests.harness.pbx.tls_node import TlsPbx
from tests.harness.servers.tls_files import TlsFiles


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pbx(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TlsPbx]:
    """Start a node with a certificate of its own CA."""
    folder = tmp_path_factory.mktemp("control")
    files = await asyncio.to_thread(TlsFiles, folder / "tls", ["pbx"])
    async with TlsPbx(folder / "pbx1", files) as node:
        yield node


async def test_ari_and_ami_over_https(pbx: TlsPbx) -> None:
    """On one port, with a certificate that the engine verifies."""
    assert await pbx.is_ready()
    async with open_ami(pbx.url, pbx.ami_user, pbx.passwords.ami, pbx.files.trust) as ami:
        assert (await ami.ask("CoreStatus", {})).is_ok


async def test_ami_over_tls(pbx: TlsPbx) -> None:
    """The connection by which an engine monitors its node."""
    reader, writer = await asyncio.open_connection("127.0.0.1", pbx.ami_port, ssl=pbx.files.trust)
    await reader.readline()  # the banner
    login = f"Action: Login\r\nUsername: {pbx.ami_user}\r\nSecret: {pbx.passwords.ami}\r\n\r\n"
    writer.write(login.encode())
    assert (await reader.readline()).decode().strip() == "Response: Success"
    writer.write(b"Action: Logoff\r\n\r\n")
    await reader.read()  # all events: OpenSSL reports data that arrive after the close as an error
    writer.close()
    await writer.wait_closed()  # TLS waits for the other end


async def test_no_password_travels_in_clear_text(pbx: TlsPbx) -> None:
    """Neither port has an answer for a client without TLS."""
    for port in (pbx.ports.ari, pbx.ami_port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /ari/asterisk/ping HTTP/1.1\r\n\r\n")
        with pytest.raises(asyncio.IncompleteReadError):
            await reader.readexactly(100)
        writer.close()
