"""A sentinel of our own, which watches a primary and makes a replica of it the next one."""

from collections.abc import Sequence
from pathlib import Path

from tests.harness.servers.valkey import Valkey

NAME = "main"


class Sentinel(Valkey):
    """Alone it decides; `address` is what an operator would write."""

    def __init__(self, folder: Path, primary: Valkey) -> None:
        super().__init__(folder)
        self._primary = primary
        self.address = f"redis+sentinel://127.0.0.1:{self.port}/{NAME}/0"

    def prepare(self) -> None:
        """Write its file, which it will write itself from then on."""
        super().prepare()
        lines = (
            f"port {self.port}",
            "bind 127.0.0.1",
            f"sentinel monitor {NAME} 127.0.0.1 {self._primary.port} 1",
            f"sentinel down-after-milliseconds {NAME} 300",
            f"sentinel failover-timeout {NAME} 3000",
        )
        (self.folder / "sentinel.conf").write_text("\n".join(lines))

    def command(self) -> Sequence[str]:
        """Return its command line."""
        return [super().command()[0], str(self.folder / "sentinel.conf"), "--sentinel"]
