"""The servers of the development lab: Valkey, two PBX nodes, an engine and the REST layer.

They outlive the process that starts them; state, logs and process ids are kept under `.lab/`.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.harness.lab.compose import ROOT
from tests.harness.lab.env import (
    AMI_PORTS,
    API_PORT,
    ARI_PORTS,
    ENGINE_PORT,
    LAB_REDIS_URL,
    VALKEY_PORT,
)
from tests.harness.pbx.asterisk import Pbx, Ports, Secrets
from tests.harness.servers.server import Server, is_well
from tests.harness.servers.valkey import Valkey

LAB = ROOT / ".lab"
PORTS = {
    "pbx1": Ports(
        ARI_PORTS["pbx1"], AMI_PORTS["pbx1"], sip=5060, rtp_first=10_000, rtp_last=14_999
    ),
    "pbx2": Ports(
        ARI_PORTS["pbx2"], AMI_PORTS["pbx2"], sip=5062, rtp_first=15_000, rtp_last=19_999
    ),
}
TRUNK = "sip:127.0.0.1:5080"


class LabProgram(Server):
    """The installed `switchroom` command, with the settings of `.env`."""

    subcommand: str

    def __init__(self, folder: Path, settings: Mapping[str, str], port: int) -> None:
        super().__init__(folder, bound=False)
        self._settings = settings
        self._port = port

    def command(self) -> Sequence[str]:
        """Return the command that operators use."""
        return (str(Path(sys.executable).with_name("switchroom")), self.subcommand)

    def environment(self) -> Mapping[str, str]:
        """Return all settings, because the program does not run in the folder of `.env`."""
        return self._settings

    async def is_ready(self) -> bool:
        """Return whether /readyz answers 200."""
        return await is_well(f"http://127.0.0.1:{self._port}/readyz")


class LabEngine(LabProgram):
    """The engine of the lab."""

    subcommand = "engine"

    def environment(self) -> Mapping[str, str]:
        """Return all settings, with the port and the media folder of the lab."""
        return {
            **self._settings,
            "SWITCHROOM_RPC_PORT": str(self._port),
            "SWITCHROOM_MEDIA_DIR": str(self.folder / "media"),
        }


class LabApi(LabProgram):
    """The REST layer of the lab; its database stays in its folder."""

    subcommand = "api"

    def environment(self) -> Mapping[str, str]:
        """Return all settings, with the port and the database of the lab."""
        return {
            **self._settings,
            "SWITCHROOM_API_PORT": str(self._port),
            "SWITCHROOM_DATABASE_URL": f"sqlite+aiosqlite:///{self.folder / 'switchroom.db'}",
        }


def servers(settings: Mapping[str, str]) -> dict[Server, tuple[int, ...]]:
    """Return the servers in the order in which they start, with the ports that each one needs."""
    found: dict[Server, tuple[int, ...]] = {}
    if settings["SWITCHROOM_REDIS_URL"] == LAB_REDIS_URL:
        found[Valkey(LAB / "valkey", port=VALKEY_PORT, bound=False)] = (VALKEY_PORT,)
    for name, ports in PORTS.items():
        found[lab_pbx(name, ports, settings)] = (ports.ari, ports.ami, ports.sip)
    found[LabEngine(LAB / "engine", settings, ENGINE_PORT)] = (ENGINE_PORT,)
    found[LabApi(LAB / "api", settings, API_PORT)] = (API_PORT,)
    return found


def lab_pbx(name: str, ports: Ports, settings: Mapping[str, str]) -> Pbx:
    """Return a PBX node of the lab."""
    return Pbx(
        LAB / name,
        name=name,
        trunk=settings.get("SWITCHROOM_TRUNK", TRUNK),
        ports=ports,
        passwords=Secrets(
            settings["SWITCHROOM_ARI_PASSWORD"],
            settings["SWITCHROOM_AMI_PASSWORD"],
            settings["SWITCHROOM_AGENT_PASSWORD"],
            settings["SWITCHROOM_PEER_PASSWORD"],
        ),
        slots=int(settings["SWITCHROOM_SLOTS"]),
        agent_qualify_s=30,
        agent_refers=True,
        bound=False,
    )
