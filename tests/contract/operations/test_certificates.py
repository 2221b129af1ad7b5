"""The script that makes certificates for the inner connections."""

import asyncio
import ssl
import stat
import subprocess
from pathlib import Path

import pytest

from base.tls import client_context, server_context

SCRIPT = Path(__file__).parents[3] / "docs/operations/certificates.sh"


@pytest.fixture
def tls(tmp_path: Path) -> Path:
    """Make certificates for an engine and a store."""
    folder = tmp_path / "tls"
    make(folder, "engine=IP:127.0.0.1,DNS:localhost", "valkey=DNS:valkey.example")
    return folder


def make(folder: Path, *names: str) -> None:
    """Run the script."""
    subprocess.run([SCRIPT, folder, *names], check=True)


async def connect(folder: Path, name: str) -> None:
    """Serve with the certificate of a name, and verify it as clients do."""
    context = server_context(folder / name / "tls.crt", folder / name / "tls.key")
    server = await asyncio.start_server(lambda _, out: out.close(), "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    async with server:
        trust = client_context(folder / name / "ca.crt")
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust)
        writer.close()
        await writer.wait_closed()  # TLS waits for the other end


async def test_a_service_is_verified_by_its_names(tls: Path) -> None:
    """By the CA that it made, and by nothing else."""
    await connect(tls, "engine")
    with pytest.raises(ssl.SSLCertVerificationError, match="IP address mismatch"):
        await connect(tls, "valkey")


def test_keys_are_closed_to_others(tls: Path) -> None:
    """Containers read the folder of their service; on the host, only root passes the one above."""
    assert stat.S_IMODE(tls.stat().st_mode) == 0o700
    assert stat.S_IMODE((tls / "ca.key").stat().st_mode) == 0o600
    assert {path.name for path in (tls / "engine").iterdir()} == {"ca.crt", "tls.crt", "tls.key"}


async def test_certificates_are_renewed_under_the_same_ca(tls: Path) -> None:
    """Clients trust the new ones, too."""
    before = [(tls / name).read_bytes() for name in ("ca.crt", "engine/tls.crt")]
    make(tls, "engine=IP:127.0.0.1")
    after = [(tls / name).read_bytes() for name in ("ca.crt", "engine/tls.crt")]
    assert before[0] == after[0]
    assert before[1] != after[1]
    await connect(tls, "engine")


@pytest.mark.parametrize(
    "name", ["engine", "=IP:127.0.0.1", "../ca=IP:127.0.0.1", "engine=127.0.0.1"]
)
def test_a_bad_name(tmp_path: Path, name: str) -> None:
    """It is named, with what is expected; nothing is made."""
    folder = tmp_path / "tls"
    ended = subprocess.run([SCRIPT, folder, name], check=False, capture_output=True, text=True)
    assert ended.returncode == 2
    assert f"{name}: NAME=ALTERNATIVES such as engine=IP:127.0.0.1 is expected" in ended.stderr
    assert not folder.exists()
