"""One PBX node: its ports, its passwords, and the variables of its configuration."""

import os
from collections.abc import Mapping
from pathlib import Path

import aiohttp
from msgspec import Struct

from dev.servers.server import Server, Trust, is_well


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


class NodeSettings(Struct, frozen=True):
    """What a node is configured with; `more` are settings of prepare.py."""

    name: str
    ports: Ports
    passwords: Secrets
    trunk: str
    more: Mapping[str, object] = {}

    def environment(self) -> dict[str, str]:
        """Return the variables that prepare.py reads."""
        values = {
            "NODE": self.name,
            "TRUNK": self.trunk,
            "ARI_PORT": self.ports.ari,
            "ARI_USER": PbxNode.ari_user,
            "ARI_PASSWORD": self.passwords.ari,
            "AMI_PORT": self.ports.ami,
            "AMI_USER": PbxNode.ami_user,
            "AMI_PASSWORD": self.passwords.ami,
            "AGENT_PASSWORD": self.passwords.agents,
            "PEER_PASSWORD": self.passwords.peers,
            "SIP_PORT": self.ports.sip,
            "RTP_FIRST": self.ports.rtp_first,
            "RTP_LAST": self.ports.rtp_last,
            **self.more,
        }
        return {f"PBX_{name}": str(value) for name, value in values.items()}


class PbxNode(Server):
    """A node, however its Asterisk runs; it is ready when it has fully booted."""

    ari_user = "switchroom"
    ami_user = "switchroom"
    trust: Trust = True

    def __init__(self, folder: Path, settings: NodeSettings, *, bound: bool) -> None:
        super().__init__(folder, bound=bound)
        self.settings = settings
        self.name = settings.name
        self.ports = settings.ports
        self.passwords = settings.passwords
        self.url = f"http://127.0.0.1:{self.ports.ari}"

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

    async def is_ready(self) -> bool:
        """Return whether ARI answers, that is, Asterisk has fully booted."""
        login = aiohttp.encode_basic_auth(self.ari_user, self.ari_password)
        return await is_well(f"{self.url}/ari/asterisk/ping", self.trust, Authorization=login)


def is_root() -> bool:
    return os.geteuid() == 0
