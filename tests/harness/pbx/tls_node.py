"""A PBX node whose ARI and AMI accept TLS only, as in the examples for production."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.harness.pbx.asterisk import Pbx
from tests.harness.servers.tls_files import TlsFiles

SYSTEM_CAS = "/etc/ssl/certs/ca-certificates.crt"


class TlsPbx(Pbx):
    """A node that trusts the CA of the files, not the system's, as in docker-compose.tls.yml."""

    def __init__(self, folder: Path, files: TlsFiles, **options: Any) -> None:
        given: Mapping[str, str] = options.pop("settings", {})
        paths = {"CERT": files.cert("pbx"), "KEY": files.key("pbx")}
        settings = {f"CONTROL_TLS_{name}": str(path) for name, path in paths.items()}
        super().__init__(folder, settings={**settings, **given}, **options)
        self.url = f"https://127.0.0.1:{self.ports.ari}"
        self.trust = files.trust
        self.files = files

    def command(self) -> Sequence[str]:
        """Return the command, which sees another file of CAs than the rest of the machine."""
        script = f'mount --bind "$0" {SYSTEM_CAS} && exec "$@"'
        as_root = () if os.geteuid() == 0 else ("--map-root-user",)
        return (
            *("unshare", "--mount", *as_root, "sh", "-c", script, str(self.files.ca)),
            *super().command(),
        )
