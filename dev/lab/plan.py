"""What a lab consists of: folder, ports, number of nodes and provider, kept beside its state."""

import os
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from base.lab_folder import FOLDER_VARIABLE, PLAN_FILE, default_lab_folder
from dev.errors import BadOption, UnreadablePlan, UnusableFolder
from dev.lab.env_file import read_file
from dev.pbx.node import Ports

FILE = PLAN_FILE
DOTENV = Path(".env")
FOLDER = FOLDER_VARIABLE
MAX_NODES = 2
PORTS = range(1024, 64_000)  # that may be the first
WELL_KNOWN_NODES = (
    Ports(ari=8088, ami=5038, sip=5060, rtp_first=10_000, rtp_last=14_999),
    Ports(ari=8089, ami=5039, sip=5062, rtp_first=15_000, rtp_last=19_999),
)
RTP_PORTS = 200  # of a node beyond --port-base: 50 legs


class LabPorts(Struct, frozen=True):
    """All ports of a lab, on 127.0.0.1."""

    engine: int
    api: int
    valkey: int
    phone: int
    streams: int
    speech: int
    metrics: int  # of the REST layer
    nodes: tuple[Ports, ...]


class Plan(Struct, frozen=True):
    """The options of the last start; a later start without options uses them again."""

    nodes: Annotated[int, Meta(ge=1, le=MAX_NODES)] = 1
    port_base: Annotated[int, Meta(ge=0, lt=PORTS.stop)] = 0
    pbx: str = ""  # the provider in use
    settings: str = ""  # a file of settings outside the folder, which is also the `.env`
    dotenv: str = ""  # the last `.env` that a start has written

    def node_names(self) -> tuple[str, ...]:
        return tuple(f"pbx{number}" for number in range(1, self.nodes + 1))

    def ports(self) -> LabPorts:
        """Return well-known ports, or those from the base on."""
        base = self.port_base
        if not base:
            return LabPorts(
                8070, 8000, 6390, 5080, 8095, 8096, 8001, WELL_KNOWN_NODES[: self.nodes]
            )
        nodes = tuple(_node_ports(base, number) for number in range(self.nodes))
        return LabPorts(base, base + 1, base + 2, base + 3, base + 4, base + 5, base + 6, nodes)

    def ports_note(self, outgoing: range) -> str:
        """Return what to know of ports from a base on; empty if nothing can take them."""
        last = _node_ports(self.port_base, self.nodes - 1).rtp_last
        if not self.port_base or last < outgoing.start or self.port_base >= outgoing.stop:
            return ""
        return (
            f"--port-base: {self.port_base} to {last} are among the ports of outgoing connections"
            f" ({outgoing.start} to {outgoing.stop - 1}), one of which may have a port that the lab"
            f" needs; {PORTS.start} to {outgoing.start - 1 - (last - self.port_base)} cannot meet"
            " them"
        )


def _node_ports(base: int, number: int) -> Ports:
    first, rtp = base + 10 + 10 * number, base + 100 + RTP_PORTS * number
    return Ports(first, first + 1, first + 2, rtp, rtp + RTP_PORTS - 1)


def default_folder(settings: Path | None = None) -> Path:
    """Return where a lab keeps its state unless --dir names another place.

    A `.env` that a lab wrote has its folder, so that commands beside it find that lab; so has the
    file of --settings. Raises BadOption.
    """
    if settings is not None:
        if found := read_file(settings).get(FOLDER):
            return Path(found)
        raise BadOption(f"--settings: {settings} does not have the settings of a lab ({FOLDER})")
    if found := os.environ.get(FOLDER) or read_file(DOTENV).get(FOLDER):
        return Path(found)
    try:
        return default_lab_folder(os.environ)
    except RuntimeError:  # neither HOME nor an entry of this user
        raise BadOption("HOME is not set: choose a folder with --dir") from None


def read_plan(folder: Path) -> Plan | None:
    """Return the plan of a lab; None if none is in the folder. Raises UnusableFolder."""
    path = folder / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Plan)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnusableFolder(error) from None
    except msgspec.DecodeError as error:
        raise UnreadablePlan(path, error) from None


def write_plan(folder: Path, plan: Plan) -> None:
    (folder / FILE).write_bytes(msgspec.json.encode(plan) + b"\n")
