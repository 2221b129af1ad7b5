"""Runs a PBX node in a container, from the image that asterisk-config/Dockerfile describes."""

import hashlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from dev.pbx.debian_root import Note
from dev.pbx.find import CONFIG
from dev.pbx.node import NodeSettings, PbxNode
from dev.setup.debian import run
from dev.setup.disk import megabytes

IMAGE = "switchroom-dev-pbx"
ANSWERS_WITHIN_S = 10


def does_answer() -> bool:
    """Return whether a Docker engine answers."""
    try:
        done = subprocess.run(
            ("docker", "info"), check=False, capture_output=True, timeout=ANSWERS_WITHIN_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def build_image(note: Note) -> None:
    """Build the image; Docker's cache makes a second build fast."""
    note("building the image, once on this machine")
    run(("docker", "build", "--tag", IMAGE, str(CONFIG)))
    size = run(("docker", "image", "inspect", "--format", "{{.Size}}", IMAGE)).strip()
    note(f"image {IMAGE}, {megabytes(int(size))} with its base")


class DockerNode(PbxNode):
    """A node in a container with the host's network; its files are in a volume."""

    def __init__(self, folder: Path, settings: NodeSettings, *, bound: bool) -> None:
        super().__init__(folder, settings, bound=bound)
        digest = hashlib.sha256(str(self.folder).encode()).hexdigest()[:12]
        self.container = f"switchroom-dev-{digest}"

    def command(self) -> Sequence[str]:
        """Return the command; values come from its environment, so no password is in a list."""
        names = [part for name in self.environment() for part in ("--env", name)]
        return (
            *("docker", "run", "--rm", "--name", self.container, "--network", "host"),
            *("--cap-drop", "ALL", "--security-opt", "no-new-privileges:true"),
            *("--volume", f"{self.container}:/srv/switchroom"),
            *(*names, IMAGE),
        )

    def environment(self) -> Mapping[str, str]:
        """Return the node's variables, and those that a developer has set, as a process has."""
        set_here = {name: value for name, value in os.environ.items() if name.startswith("PBX_")}
        return {**set_here, **self.settings.environment()}

    async def stop(self) -> None:
        """Stop it by SIGTERM, which the client of Docker passes on."""
        await super().stop()
        self.remove_container()

    async def kill(self) -> None:
        """Stop the container, too: it outlives the client of Docker."""
        await super().kill()
        self.remove_container()

    def remove_container(self) -> None:
        """Remove the container, also one that a killed client has left with its ports."""
        argv = ("docker", "rm", "--force", self.container)
        subprocess.run(argv, check=False, capture_output=True)

    def delete_files(self) -> None:
        """Delete the volume."""
        argv = ("docker", "volume", "rm", "--force", self.container)
        subprocess.run(argv, check=False, capture_output=True)
