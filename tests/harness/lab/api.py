"""The REST layer of the lab: the installed `switchroom` command, with the settings of `.env`."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.harness.servers.server import Server, is_well


class LabApi(Server):
    """One process that lives on when this one has ended; its records stay in its folder."""

    def __init__(self, folder: Path, settings: Mapping[str, str], port: int) -> None:
        super().__init__(folder, bound=False)
        self._settings = settings
        self._port = port

    def command(self) -> Sequence[str]:
        """Return the command that operators use."""
        return (str(Path(sys.executable).with_name("switchroom")), "api")

    def environment(self) -> Mapping[str, str]:
        """Return all settings, for it does not run where `.env` lies."""
        return {
            **self._settings,
            "SWITCHROOM_API_PORT": str(self._port),
            "SWITCHROOM_DATABASE_URL": f"sqlite+aiosqlite:///{self.folder / 'switchroom.db'}",
        }

    async def is_ready(self) -> bool:
        """Tell whether it can do its work."""
        return await is_well(f"http://127.0.0.1:{self._port}/readyz")
