"""Certificates of servers, made by the script for operators."""

import ssl
import subprocess
from collections.abc import Sequence
from pathlib import Path

from engine.common.tls import client_context

SCRIPT = Path(__file__).parents[3] / "docs/operations/certificates.sh"


class TlsFiles:
    """A folder with a CA and the keys of servers at 127.0.0.1; `trust` verifies them."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        subprocess.run([SCRIPT, folder, *(f"{name}=IP:127.0.0.1" for name in names)], check=True)
        self._folder = folder
        self.ca = folder / "ca.crt"

    def cert(self, name: str) -> Path:
        """Return the path of a server's certificate."""
        return self._folder / name / "tls.crt"

    def key(self, name: str) -> Path:
        """Return the path of a server's key."""
        return self._folder / name / "tls.key"

    @property
    def trust(self) -> ssl.SSLContext:
        """Return what clients verify servers with."""
        context = client_context(self.ca)
        assert context is not None
        return context
