"""A Sentinel that watches a primary and promotes one of its replicas."""

from collections.abc import Sequence
from pathlib import Path

from tests.harness.servers.valkey import Valkey

NAME = "main"


class Sentinel(Valkey):
    """A Sentinel with a quorum of one; `address` is the Redis URL that an operator configures."""

    def __init__(self, folder: Path, primary: Valkey) -> None:
        super().__init__(folder)
        self._primary = primary
        self.address = f"redis+sentinel://127.0.0.1:{self.port}/{NAME}/0"

    def prepare(self) -> None:
        """Write its configuration, which it rewrites itself while it runs."""
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
        return [super().command()[0], str(self.folder / "sentinel.conf"), "--sentinel"]
