"""The servers of a lab: Valkey, PBX nodes, programs of this package, and a phone.

They outlive the process that starts them; state, logs and process ids are in the lab's folder.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from dev.lab.plan import LabPorts, Plan
from dev.lab.settings import store_url, trunk
from dev.pbx.choice import node_of
from dev.pbx.node import NodeSettings, PbxNode, Ports, Secrets
from dev.phone.caller import CALLER_PORTS
from dev.servers.ports import is_udp_bound
from dev.servers.server import Server, is_well
from dev.servers.valkey import ValkeyServer
from dev.setup.python_packages import FURTHER_EXTRAS, missing_here

RECOGNIZERS = "SWITCHROOM_STREAMS_RECOGNIZERS"
TRANSCRIPTS = "SWITCHROOM_TRANSCRIPT_RECOGNIZERS"
SWITCHROOM = (sys.executable, "-m", "switchroom")
TITLES = {
    "valkey": "Valkey",
    "speech": "speech recognizers",
    "streams": "stream gateway",
    "engine": "engine",
    "api": "REST layer",
    "phone": "phone",
}


class LabProgram(Server):
    """A command of this package, with the settings of the lab."""

    subcommand: str

    def __init__(self, folder: Path, settings: Mapping[str, str], port: int) -> None:
        super().__init__(folder, bound=False)
        self._settings = settings
        self._port = port

    def command(self) -> Sequence[str]:
        """Return the command that operators use."""
        return (*SWITCHROOM, self.subcommand)

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
    """The REST layer of the lab, with its database in its folder; recognizers transcribe for it."""

    subcommand = "api"

    def __init__(
        self, folder: Path, settings: Mapping[str, str], ports: LabPorts, speech: int | None
    ) -> None:
        """`speech` is the port of the recognizers."""
        known = {} if speech is None else {TRANSCRIPTS: f'["ws://127.0.0.1:{speech}"]'}
        super().__init__(folder, {**known, **settings}, ports.metrics)
        self._api_port = ports.api

    def environment(self) -> Mapping[str, str]:
        """Return all settings, with the ports and the database of the lab."""
        return {
            **self._settings,
            "SWITCHROOM_API_PORT": str(self._api_port),
            "SWITCHROOM_API_METRICS_PORT": str(self._port),
            "SWITCHROOM_DATABASE_URL": f"sqlite+aiosqlite:///{self.folder / 'switchroom.db'}",
        }


class LabStreams(LabProgram):
    """The stream gateway of the lab, for all its nodes; it knows recognizers, if there are any."""

    subcommand = "streams"

    def __init__(
        self, folder: Path, settings: Mapping[str, str], port: int, speech: int | None
    ) -> None:
        """`speech` is the port of the recognizers."""
        known = {} if speech is None else {RECOGNIZERS: f"ws://127.0.0.1:{speech}"}
        super().__init__(folder, {**known, **settings}, port)

    def environment(self) -> Mapping[str, str]:
        """Return all settings, with the port of the lab."""
        return {**self._settings, "SWITCHROOM_STREAMS_PORT": str(self._port)}


class LabSpeech(LabProgram):
    """The speech recognizers of the lab; one process decodes enough for it."""

    subcommand = "speech"

    def environment(self) -> Mapping[str, str]:
        """Return all settings, with the port of the lab."""
        return {
            "SWITCHROOM_SPEECH_WORKERS": "1",
            **self._settings,
            "SWITCHROOM_SPEECH_PORT": str(self._port),
        }


class LabPhone(Server):
    """The phone behind the trunk, which answers all calls; what it hears is in its folder."""

    def __init__(self, folder: Path, port: int) -> None:
        super().__init__(folder, bound=False)
        self._port = port

    def command(self) -> Sequence[str]:
        return (*SWITCHROOM, "dev", "phone", "--port", str(self._port), "--save", str(self.folder))

    async def is_ready(self) -> bool:
        return is_udp_bound(self._port)


def servers(folder: Path, plan: Plan, settings: Mapping[str, str]) -> dict[Server, tuple[int, ...]]:
    """Return the servers in the order in which they start, with the ports that each one needs."""
    ports = plan.ports()
    found: dict[Server, tuple[int, ...]] = {}
    password = settings["SWITCHROOM_STORE_PASSWORD"]
    if settings["SWITCHROOM_REDIS_URL"] == store_url(plan, password):
        store = ValkeyServer(folder / "valkey", port=ports.valkey, password=password, bound=False)
        found[store] = (ports.valkey,)
    for name, node in zip(plan.node_names(), ports.nodes, strict=True):
        found[lab_node(folder, plan, name, node, settings)] = (node.ari, node.ami, node.sip)
    speech = ports.speech if _has_recognizers(settings) else None
    if speech is not None:
        found[LabSpeech(folder / "speech", settings, speech)] = (speech,)
    found[LabStreams(folder / "streams", settings, ports.streams, speech)] = (ports.streams,)
    found[LabEngine(folder / "engine", settings, ports.engine)] = (ports.engine,)
    found[LabApi(folder / "api", settings, ports, speech)] = (ports.api, ports.metrics)
    found[LabPhone(folder / "phone", ports.phone)] = (ports.phone,)
    return found


def _has_recognizers(settings: Mapping[str, str]) -> bool:
    others = (
        "SWITCHROOM_SPEECH_WHISPER_MODEL",
        "SWITCHROOM_SPEECH_DEEPGRAM_KEY",
        "SWITCHROOM_SPEECH_OPENAI_KEY",
        "SWITCHROOM_SPEECH_ASSEMBLYAI_KEY",
    )
    return not missing_here(FURTHER_EXTRAS) or any(settings.get(each) for each in others)


def lab_node(
    folder: Path, plan: Plan, name: str, ports: Ports, settings: Mapping[str, str]
) -> PbxNode:
    """Return a PBX node of the lab."""
    passwords = Secrets(
        settings["SWITCHROOM_ARI_PASSWORD"],
        settings["SWITCHROOM_AMI_PASSWORD"],
        settings["SWITCHROOM_AGENT_PASSWORD"],
        settings["SWITCHROOM_PEER_PASSWORD"],
    )
    more = {
        "SLOTS": settings["SWITCHROOM_SLOTS"],
        "AGENT_QUALIFY_S": 30,
        "PHONE_WEBSOCKET": "yes",
    }
    if settings["SWITCHROOM_TRUNK"] == trunk(plan):
        # Others on this machine have its address, too: a page in a browser, a phone.
        callers = (plan.ports().phone, *CALLER_PORTS)
        more["TRUNK_MATCH"] = ",".join(f"127.0.0.1:{port}" for port in callers)
    node = NodeSettings(name, ports, passwords, settings["SWITCHROOM_TRUNK"], more=more)
    return node_of(plan.pbx, folder / name, node)


def title_of(server: Server) -> str:
    """Return how people call a server."""
    name = server.folder.name
    return TITLES.get(name, f"Asterisk {name}")
