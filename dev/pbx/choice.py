"""Chooses how a lab runs its PBX: Docker, Asterisk on the PATH, or a Debian root."""

import os
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from dev.caller import sudo_command
from dev.errors import NoPbx
from dev.pbx import docker
from dev.pbx.asterisk import AsteriskNode
from dev.pbx.debian_root import Note, ensure_root, root_path
from dev.pbx.find import (
    asterisk_on_path,
    check_modules,
    check_version,
    path_of_asterisk,
    root_asterisk,
    version_of,
)
from dev.pbx.node import NodeSettings, PbxNode, is_root

Provider = Literal["docker", "path", "debian"]
ORDER: tuple[Provider, ...] = ("docker", "path", "debian")
LOOKED_FOR: Mapping[Provider, str] = {
    "docker": "a Docker engine that answers `docker info`",
    "path": "asterisk on the PATH",
    "debian": "Debian or Ubuntu with root rights, or a root that was built before",
}


class Machine(NamedTuple):
    """What this machine has."""

    has_docker: Callable[[], bool] = docker.does_answer
    has_asterisk: Callable[[], bool] = lambda: path_of_asterisk() is not None
    has_debian: Callable[[], bool] = lambda: (
        root_path().exists() or (is_root() and shutil.which("dpkg-query") is not None)
    )


def choose(wanted: str, machine: Machine) -> Provider:
    """Return the provider that is wanted, or the first that this machine has; raises NoPbx."""
    has: Mapping[Provider, Callable[[], bool]] = {
        "docker": machine.has_docker,
        "path": machine.has_asterisk,
        "debian": machine.has_debian,
    }
    considered = [each for each in ORDER if wanted in {"", each}]
    for each in considered:
        if has[each]():
            return each
    looked_for = "; ".join(LOOKED_FOR[each] for each in considered)
    raise NoPbx(
        f"nothing here runs a PBX. Looked for: {looked_for}. Install Docker, or Asterisk 20 or"
        f" later, or run the command as root on Debian or Ubuntu: `{sudo_command()}`"
    )


def provide(provider: Provider, note: Note) -> None:
    """Make the provider's Asterisk ready to start, and check it; may take a minute."""
    match provider:
        case "docker":
            docker.build_image(note)
        case "path":
            program = path_of_asterisk()
            version = version_of(str(program))
            check_version(str(program), version)
            note(version)
            check_modules(asterisk_on_path(program).modules_dir)
        case "debian":
            ensure_root(note)


def node_of(provider: str, folder: Path, settings: NodeSettings) -> PbxNode:
    """Return a node that outlives this process."""
    match provider:
        case "docker":
            return docker.DockerNode(folder, settings, bound=False)
        case "path":
            find = partial(asterisk_on_path, path_of_asterisk())
        case _:
            find = partial(root_asterisk, root_path())
    return AsteriskNode(folder, settings, bound=False, find=find)


def wanted_provider(option: str) -> str:
    """Return the option, or SWITCHROOM_PBX; empty if neither is given."""
    return option or os.environ.get("SWITCHROOM_PBX", "")
