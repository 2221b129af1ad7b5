"""Runs an Asterisk node as a process, with the configuration that operators use."""

import asyncio
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from dev.errors import CommandFailed, UnusableFolder
from dev.pbx.find import CONFIG, Asterisk, find_asterisk
from dev.pbx.node import NodeSettings, PbxNode, is_root

PRECEDENCE = "-10"
PREPARE = CONFIG / "prepare.py"


class AsteriskNode(PbxNode):
    """One Asterisk node; `log` is its standard output, `messages` its log file."""

    def __init__(
        self,
        folder: Path,
        settings: NodeSettings,
        *,
        bound: bool,
        find: Callable[[], Asterisk] = find_asterisk,
    ) -> None:
        super().__init__(folder, settings, bound=bound)
        self._find = find

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
        _own(self.run_dir)
        self._asterisk = self._find()
        env = {
            **os.environ,
            **self.settings.environment(),
            "PBX_MODULES_DIR": str(self._asterisk.modules_dir),
            "PBX_DATA_DIR": str(self._asterisk.data_dir),
            "PBX_RUN_DIR": str(self.run_dir),
        }
        argv = (sys.executable, str(PREPARE), str(self.folder))
        done = subprocess.run(argv, env=env, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise CommandFailed(argv, done.stderr.strip().rpartition("\n")[2])  # of a traceback

    def command(self) -> Sequence[str]:
        """Return the command that runs Asterisk in the foreground without a terminal.

        Root gives it precedence, as a PBX has in production (`asterisk -p`): tests judge its
        audio, and on a busy machine it would stop for up to a second.
        """
        precedence = ("nice", "-n", PRECEDENCE) if is_root() else ()
        return (*precedence, *self._client(), "-f", "-n")

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


def _own(folder: Path) -> None:
    """Create a folder that no other user has prepared: all may write where it is."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise UnusableFolder(PermissionError(1, "belongs to another user", str(folder)))
