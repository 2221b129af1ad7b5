"""An engine that serves its RPC and audio over TLS, and reaches store and nodes over TLS."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.harness.pbx.tls_node import TlsPbx
from tests.harness.servers.engine import Engine
from tests.harness.servers.tls_files import TlsFiles
from tests.harness.servers.tls_store import TlsStore


class TlsEngine(Engine):
    """One engine with the settings of docker-compose.tls.yml."""

    def __init__(  # noqa: PLR0913 - all are parts of one installation
        self,
        folder: Path,
        files: TlsFiles,
        *,
        store: TlsStore,
        nodes: Sequence[TlsPbx],
        token: str,
        settings: Mapping[str, str],
    ) -> None:
        tls = {
            "SWITCHROOM_REDIS_URL": store.url,
            "SWITCHROOM_RPC_TLS_CERT": str(files.cert("engine")),
            "SWITCHROOM_RPC_TLS_KEY": str(files.key("engine")),
            "SWITCHROOM_TLS_CA": str(files.ca),
        }
        super().__init__(
            folder,
            valkey=store,
            nodes=nodes,
            settings={**tls, **settings},
            node_options={each.name: {"url": each.url, "ami_tls": True} for each in nodes},
            token=token,
        )
        self.url = self.url.replace("http:", "https:")
        self.trust = files.trust
