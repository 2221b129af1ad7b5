"""The bare application as a process."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from dev.servers.server import Server, is_well
from tests.harness.pbx.asterisk import Pbx
from tests.harness.ports import free_port

ROOT = Path(__file__).parents[3]


class BareProcess(Server):
    """The bare application of one node; it is ready when its websockets are connected."""

    def __init__(self, folder: Path, *, pbx: Pbx, prompts: Path) -> None:
        super().__init__(folder)
        self._port = free_port()
        self._pbx = pbx
        self._prompts = prompts

    def command(self) -> Sequence[str]:
        return (sys.executable, "-m", "tools.bench.ivr.bare_application")

    def environment(self) -> Mapping[str, str]:
        return {
            "PYTHONPATH": str(ROOT),
            "BARE_ARI_URL": f"{self._pbx.url}/ari",
            "BARE_USER": self._pbx.ari_user,
            "BARE_PASSWORD": self._pbx.ari_password,
            "BARE_PORT": str(self._port),
            "BARE_PROMPTS": str(self._prompts),
        }

    async def is_ready(self) -> bool:
        """Return whether it serves the prompts."""
        return await is_well(f"http://127.0.0.1:{self._port}/media/first.wav")
