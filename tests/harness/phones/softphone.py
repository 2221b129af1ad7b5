"""A softphone that this project did not write: baresip, registered as an agent.

It answers every call with a tone. Its user's keys are commands over TCP.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from dev.servers.process import Process
from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.audio import tone, wav
from tests.harness.ports import media_port
from tests.harness.until import MAX_WAIT_S, until

STARTS = 3
LISTENS_WITHIN_S = 10.0
TONE_MS = 60_000  # it does not repeat
CONFIG = """
sip_listen 127.0.0.1:{sip_port}
sip_cafile {ca}
module_path /usr/lib/baresip/modules
audio_source aufile,{tone}
audio_player aubridge,none
ctrl_tcp_listen 127.0.0.1:{control_port}
module g711.so
module srtp.so
module aufile.so
module aubridge.so
module_tmp account.so
module_app menu.so
module_app ctrl_tcp.so
"""
ACCOUNT = (
    "<sip:{agent}@127.0.0.1:{port};transport={transport}>;auth_user={agent};auth_pass={password}"
    ";answermode=auto"
)

Transport = Literal["udp", "tcp", "tls"]


class Softphone:
    """One baresip; `events` are those that it has reported, such as CALL_ESTABLISHED."""

    def __init__(
        self, process: Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.events: list[dict[str, Any]] = []
        self._process = process
        self._reader = reader
        self._writer = writer

    @classmethod
    @asynccontextmanager
    async def agent(  # noqa: PLR0913 - a test names only what it varies
        cls,
        pbx: Pbx,
        agent: str,
        *,
        tone_hz: int,
        transport: Transport = "udp",
        tls_port: int = 0,
        ca: Path | None = None,
        encryption: str = "",
    ) -> AsyncIterator["Softphone"]:
        """Register as an agent and answer when called; `encryption` is such as `srtp-mand`."""
        port = tls_port if transport == "tls" else pbx.sip_port
        account = {"agent": agent, "port": port, "password": pbx.passwords.agents}
        with tempfile.TemporaryDirectory(prefix="softphone") as name:
            folder = Path(name)
            sound = folder / "tone.wav"
            sound.write_bytes(wav(tone(tone_hz, TONE_MS)))
            (folder / "accounts").touch()
            process, reader, writer = await _start(folder, {"tone": sound, "ca": ca or ""})
            try:
                phone = cls(process, reader, writer)
                reading = asyncio.get_running_loop().create_task(phone._read())
                try:
                    text = ACCOUNT.format(**account, transport=transport)
                    phone.command("uanew", text + (f";mediaenc={encryption}" * bool(encryption)))
                    await phone.wait_for("REGISTER_OK")
                    yield phone
                    phone.command("quit")  # it unregisters
                    await until(lambda: not process.alive(), what="baresip to end")
                finally:
                    reading.cancel()
                    writer.close()
            finally:
                await process.kill()

    def command(self, name: str, parameters: str = "") -> None:
        """Send a command, such as `hold` or `resume`."""
        body = json.dumps({"command": name, "params": parameters})
        self._writer.write(f"{len(body)}:{body},".encode())

    async def kill(self) -> None:
        """End it without unregistering, as a power cut does."""
        await self._process.kill()

    def press(self, digits: str) -> None:
        """Press keys in the current call."""
        for digit in digits:
            self.command("sndcode", digit)

    def transfer(self, number: str) -> None:
        """Send REFER to a number in the current call."""
        self.command("transfer", f"sip:{number}@127.0.0.1")

    async def wait_for(self, kind: str, after: int = 0, timeout_s: float = MAX_WAIT_S) -> None:
        """Wait until it has reported a kind of event, more often than `after` times."""
        await until(
            lambda: sum(each.get("type") == kind for each in self.events) > after,
            timeout_s=timeout_s,
            what=f"{kind} of baresip",
        )

    async def _read(self) -> None:
        """Read its messages, which are netstrings of JSON, until it ends."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                length = await self._reader.readuntil(b":")
                body = await self._reader.readexactly(int(length[:-1]) + 1)
                self.events.append(json.loads(body[:-1]))


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _start(
    folder: Path, values: Mapping[str, object]
) -> tuple[Process, asyncio.StreamReader, asyncio.StreamWriter]:
    """Start baresip and connect; it runs on without a port that another program has taken."""
    log = folder / "baresip.log"
    for _ in range(STARTS):
        first = media_port()  # with the following ones: its SIP takes two, the second for TLS
        ports = {"sip_port": first, "control_port": first + 2}
        (folder / "config").write_text(CONFIG.format(**values, **ports))
        process = Process.start(("baresip", "-f", str(folder)), log=log, cwd=folder)
        try:
            return process, *await _connect(ports["control_port"])
        except TimeoutError:
            await process.kill()
        except BaseException:
            await process.kill()
            raise
    raise TimeoutError(f"baresip does not listen: {log.read_text()}")


async def _connect(port: int) -> Connection:
    opened: list[Connection] = []

    async def is_open() -> bool:
        try:
            opened.append(await asyncio.open_connection("127.0.0.1", port))
        except OSError:
            return False
        return True

    await until(is_open, timeout_s=LISTENS_WITHIN_S, what="baresip to listen")
    return opened[0]
