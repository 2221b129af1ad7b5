"""The whole installation over TLS, as docker-compose.tls.yml runs it, as processes."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from tests.harness.customers.media_server import MediaServer
from tests.harness.pbx.tls_node import TlsPbx
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.api import ACCOUNT, NUMBER, Api
from tests.harness.servers.engine import RequestError
from tests.harness.servers.tls_engine import TlsEngine
from tests.harness.servers.tls_files import TlsFiles
from tests.harness.servers.tls_store import TlsStore
from tests.harness.until import until
from tools.compose_trial import check_encrypted

TONE_HZ = 700


class Installation:
    """A store, a PBX node, two engines and the REST layer."""

    def __init__(self, folder: Path, files: TlsFiles) -> None:
        self.trunk_port = free_port()
        self.store = TlsStore(folder / "store", files)
        trunk = f"sip:127.0.0.1:{self.trunk_port}"
        self.pbx = TlsPbx(folder / "pbx1", files, trunk=trunk)
        token = secrets.token_hex(16)
        settings = {
            "SWITCHROOM_DEFAULT_ALLOW": "[]",
            "SWITCHROOM_STORE_KEY": secrets.token_hex(32),
            "SWITCHROOM_RECORDINGS_URL": f"file://{folder / 'recordings'}",
        }
        self.engines = [
            TlsEngine(
                folder / name,
                files,
                store=self.store,
                nodes=[self.pbx],
                token=token,
                settings=settings,
            )
            for name in ("engine1", "engine2")
        ]
        tls = {"SWITCHROOM_TLS_CA": str(files.ca)}
        self.api = Api(folder / "api", engines=self.engines, settings=tls)

    @property
    def ports(self) -> tuple[int, ...]:
        """Return the ports of the inner network."""
        engines = (each.port for each in self.engines)
        return (self.store.port, self.pbx.ports.ari, self.pbx.ami_port, *engines)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def installation(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Installation]:
    folder = tmp_path_factory.mktemp("tls")
    files = await asyncio.to_thread(TlsFiles, folder / "tls", ["valkey", "pbx", "engine"])
    found = Installation(folder, files)
    async with AsyncExitStack() as stack:
        for server in (found.store, found.pbx, *found.engines, found.api):
            await stack.enter_async_context(server)
        yield found


async def test_a_call_over_tls(installation: Installation, sounds: MediaServer) -> None:
    """It is made over REST, plays audio, is seen by both engines, and leaves its record."""
    api = installation.api
    token = await api.token()
    play = {"type": "play", "data": {"audioUrl": sounds.tone(TONE_HZ, 60_000)}}
    body = {"from": NUMBER, "to": "+4722222222", "action": play}
    async with Phone.answering(installation.trunk_port) as phone:
        call = (await api.request("POST", "/srmain/voice/call", body, token=token))["callId"]
        await phone.until_hears(TONE_HZ)
        for engine in installation.engines:
            assert (await engine.call(call))["account"] == ACCOUNT
        await phone.hang_up()

    async def has_record() -> bool:
        try:
            found = await api.request("GET", f"/srmain/cdr/{call}", token=token)
        except RequestError:
            return False
        return bool(found["status"] == "completed")

    await until(has_record, what="the record of the call")


async def test_nothing_is_in_clear_text(installation: Installation) -> None:
    """No port of the inner network has an answer for a client without TLS."""
    for port in installation.ports:
        await check_encrypted(port)
