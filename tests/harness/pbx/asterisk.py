"""Runs an Asterisk node as a process, with the configuration that operators use.

    async with Pbx(tmp_path / "pbx1", trunk="sip:127.0.0.1:15080") as pbx:
        pbx.url, pbx.ari_user, pbx.ari_password      # ARI: http://127.0.0.1:<port>, without /ari
        pbx.sip_port                                 # INVITE here: a call from the trunk
        await pbx.cli("core show channels")
        await pbx.kill()                             # a crash; then start(): same ports, same files

The node is ready when it has fully booted; until then ARI answers 503.
"""

import asyncio
import hashlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import aiohttp
from msgspec import Struct

from tests.harness.pbx.find import find_asterisk
from tests.harness.ports import free_ports
from tests.harness.servers.server import Server, Trust, is_well

PRECEDENCE = "-10"
PREPARE = Path(__file__).parents[3] / "asterisk-config/prepare.py"


class Ports(Struct, frozen=True):
    """Ports of a node on 127.0.0.1; nodes may share the RTP range."""

    ari: int
    ami: int
    sip: int
    rtp_first: int = 20_000
    rtp_last: int = 24_999


class Secrets(Struct, frozen=True):
    """Passwords of a node for ARI, AMI, SIP agents and other nodes; without the last, no peers."""

    ari: str
    ami: str
    agents: str
    peers: str = ""


class Pbx(Server):
    """One Asterisk node; `log` is its standard output, `messages` its log file."""

    ari_user = "switchroom"
    ami_user = "switchroom"
    trust: Trust = True

    def __init__(  # noqa: PLR0913 - a test names only what it varies
        self,
        folder: Path,
        *,
        name: str = "pbx1",
        trunk: str = "sip:127.0.0.1:5080",
        ports: Ports | None = None,
        passwords: Secrets | None = None,
        slots: int = 8,
        rtp_timeout_s: int = 45,
        qualify_s: int = 0,
        agent_qualify_s: int = 0,
        trunk_refers: bool = False,
        agent_refers: bool = False,
        bound: bool = True,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(folder, bound=bound)
        self.name = name
        self.ports = ports or Ports(*free_ports(3))
        self.passwords = passwords or Secrets(*(secrets.token_hex(8) for _ in range(3)))
        self.url = f"http://127.0.0.1:{self.ports.ari}"
        self._settings = {
            "TRUNK": trunk,
            "TRUNK_QUALIFY_S": qualify_s,
            "AGENT_QUALIFY_S": agent_qualify_s,  # 0: phones of SIPp answer no OPTIONS
            "TRUNK_REFER": "yes" if trunk_refers else "no",
            "AGENT_REFER": "yes" if agent_refers else "no",
            "SLOTS": slots,
            "RTP_TIMEOUT_S": rtp_timeout_s,
            **(settings or {}),  # of prepare.py
        }

    @property
    def ari_password(self) -> str:
        return self.passwords.ari

    @property
    def sip_port(self) -> int:
        """Return the UDP port for SIP."""
        return self.ports.sip

    @property
    def ami_port(self) -> int:
        return self.ports.ami

    @property
    def messages(self) -> Path:
        """Return the path of Asterisk's log: notices, warnings and errors."""
        return self.folder / "var/log/messages.log"

    @property
    def recordings(self) -> Path:
        """Return the folder of ARI's recordings."""
        return self.folder / "var/spool/recording"

    def prepare(self) -> None:
        """Find Asterisk, building it the first time on a machine, and write its configuration."""
        super().prepare()
        self._asterisk = find_asterisk()
        env = {
            **os.environ,
            **{f"PBX_{name}": str(value) for name, value in self._values().items()},
        }
        subprocess.run([sys.executable, PREPARE, self.folder], env=env, check=True)

    def command(self) -> Sequence[str]:
        """Return the command that runs Asterisk in the foreground without a terminal.

        Root gives it precedence, as a PBX has in production (`asterisk -p`): tests judge its
        audio, and on a busy machine it would stop for up to a second.
        """
        precedence = ("nice", "-n", PRECEDENCE) if os.geteuid() == 0 else ()
        return (*precedence, *self._client(), "-f", "-n")

    async def is_ready(self) -> bool:
        """Return whether ARI answers, that is, Asterisk has fully booted."""
        login = aiohttp.encode_basic_auth(self.ari_user, self.ari_password)
        return await is_well(f"{self.url}/ari/asterisk/ping", self.trust, Authorization=login)

    async def cli(self, command: str) -> str:
        """Run one console command and return its output."""
        process = await asyncio.create_subprocess_exec(
            *(*self._client(), "-rx", command), stdout=asyncio.subprocess.PIPE
        )
        printed, _ = await process.communicate()
        return printed.decode()

    async def stop(self) -> None:
        """Stop it and remove the folder of its control socket."""
        await super().stop()
        shutil.rmtree(self.run_dir, ignore_errors=True)

    def _client(self) -> tuple[str, ...]:
        return (*self._asterisk.command, "-C", str(self.folder / "etc/asterisk.conf"))

    @property
    def run_dir(self) -> Path:
        """Return the folder of its control socket and its media cache."""
        # a socket path has at most 107 bytes (unix(7)), and test folders are longer
        digest = hashlib.sha256(str(self.folder).encode()).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"switchroom-{digest}"

    def _values(self) -> Mapping[str, object]:
        return {
            **self._settings,
            "NODE": self.name,
            "ARI_PORT": self.ports.ari,
            "ARI_USER": self.ari_user,
            "ARI_PASSWORD": self.passwords.ari,
            "AMI_PORT": self.ports.ami,
            "AMI_USER": self.ami_user,
            "AMI_PASSWORD": self.passwords.ami,
            "AGENT_PASSWORD": self.passwords.agents,
            "PEER_PASSWORD": self.passwords.peers,
            "SIP_PORT": self.ports.sip,
            "RTP_FIRST": self.ports.rtp_first,
            "RTP_LAST": self.ports.rtp_last,
            "MODULES_DIR": self._asterisk.modules_dir,
            "DATA_DIR": self._asterisk.data_dir,
            "RUN_DIR": self.run_dir,
        }
