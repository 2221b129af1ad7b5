"""Certificates of servers, made by the script for operators."""

import ssl
import subprocess
from collections.abc import Sequence
from pathlib import Path

from base.tls import client_context, server_context

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

    def served(self, name: str) -> ssl.SSLContext:
        """Return what a server of this name shows its certificate with."""
        return server_context(self.cert(name), self.key(name))

    def renew(self, name: str, days: int) -> None:
        """Sign a server's certificate again, for other days."""
        authority = ("-CA", self.ca, "-CAkey", self._folder / "ca.key")
        names = ("-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1")
        files = ("-key", self.key(name), "-out", self.cert(name))
        argv = ("openssl", "req", "-x509", *authority, *names, *files, "-days", f"{days}")
        subprocess.run(argv, check=True, capture_output=True)

    @property
    def trust(self) -> ssl.SSLContext:
        """Return what clients verify servers with."""
        context = client_context(self.ca)
        assert context is not None
        return context
