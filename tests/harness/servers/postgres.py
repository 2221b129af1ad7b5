"""A PostgreSQL server from the Debian package; it does not run as root, so it owns its folder.

async with Postgres() as postgres:
    database = Database(postgres.url)
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import asyncpg

from dev.servers.server import Server
from tests.harness.ports import free_port

BINARIES = Path("/usr/lib/postgresql")
USER = "postgres"
FASTER = ("fsync=off", "full_page_writes=off", "max_connections=50")


def find_postgres() -> Path | None:
    """Return the program folder of the newest installed version, if any."""
    found = sorted(BINARIES.glob("*/bin"), key=lambda each: int(each.parent.name))
    return found[-1] if found else None


class Postgres(Server):
    """One server on a free port of 127.0.0.1, with an empty database."""

    def __init__(self, *settings: str) -> None:
        folder = Path(tempfile.mkdtemp(prefix="switchroom-postgres-"))
        super().__init__(folder)
        self._settings = (*FASTER, *settings)
        self.port = free_port()
        self.url = f"postgresql+asyncpg://{USER}@127.0.0.1:{self.port}/postgres"

    def prepare(self) -> None:
        """Create the database cluster; local connections need no password."""
        super().prepare()
        if os.geteuid() == 0:
            shutil.chown(self.folder, USER, USER)
        initdb = (f"{self._bin}/initdb", "-D", str(self._data), "-U", USER, "-A", "trust", "-N")
        argv = (*self._as_user(), *initdb)
        subprocess.run(argv, check=True, capture_output=True, cwd=self.folder)

    def command(self) -> Sequence[str]:
        options = [part for each in self._settings for part in ("-c", each)]
        location = ("-D", str(self._data), "-h", "127.0.0.1", "-p", str(self.port), "-k", "")
        return [*self._as_user(), f"{self._bin}/postgres", *location, *options]

    async def is_ready(self) -> bool:
        """Return whether it accepts connections."""
        try:
            connection = await asyncpg.connect(**self.address)
        except (OSError, asyncpg.PostgresError):
            return False
        await connection.close()
        return True

    def dump(self) -> str:
        """Return the statements that create the tables and rows of the database."""
        to = ("-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "postgres")
        argv = (f"{self._bin}/pg_dump", "--inserts", "--no-owner", "--no-privileges", *to)
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout

    async def stop(self) -> None:
        """Stop it and delete its folder."""
        await super().stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def address(self) -> dict[str, Any]:
        """Return the parameters of a connection by asyncpg."""
        return {"host": "127.0.0.1", "port": self.port, "user": USER, "database": "postgres"}

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def _bin(self) -> Path:
        found = find_postgres()
        if found is None:
            raise RuntimeError("no PostgreSQL: apt-get install postgresql")
        return found

    def _as_user(self) -> Sequence[str]:
        if os.geteuid() != 0:
            return ()
        # A change of user clears the parent-death signal, so it is set after the change.
        bound = ("--pdeathsig", "KILL") if self._bound else ()
        return ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *bound, "--")
