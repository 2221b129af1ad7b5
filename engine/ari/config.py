"""One PBX node: its address, credentials and timeouts."""

from collections.abc import Callable
from ssl import SSLContext

import aiohttp
from aiohttp import ClientSession
from msgspec import Struct
from yarl import URL

# Unused here; filtered out, they cost neither Asterisk nor the engine.
UNUSED_EVENTS = (
    "BridgeCreated",
    "BridgeDestroyed",
    "BridgeMerged",
    "BridgeVideoSourceChanged",
    "ChannelCallerId",
    "ChannelConnectedLine",
    "ChannelCreated",
    "ChannelDialplan",
    "ChannelEnteredBridge",
    "ChannelLeftBridge",
    "ChannelVarset",
    "ContactStatusChange",
    "DeviceStateChanged",
    "Dial",
    "EndpointStateChange",
    "PeerStatusChange",
    "PlaybackContinuing",
    "PlaybackStarted",
    "RecordingStarted",
)


class PbxAddress(Struct, frozen=True):
    """A node's name, its ARI root (`http://host:8088/ari`), and a user of its ari.conf.

    `tls` verifies an https node; None: by the system's certificates.
    """

    name: str
    url: str
    username: str
    password: str
    tls: SSLContext | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The authorization header; a password in a URL would end up in logs."""
        return {"Authorization": aiohttp.encode_basic_auth(self.username, self.password)}

    def __repr__(self) -> str:
        return f"PbxAddress({self.name!r}, {self.url!r}, {self.username!r})"


class Timeouts(Struct, frozen=True):
    """Timeouts and intervals in seconds, and the size of the connection pool.

    connect_s: one handshake; Asterisk may accept and never finish it (asterisk#1979).
    probe_s: until a subscription is confirmed; longer after each failed attempt.
    heartbeat_s: between pings; a dead peer is noticed within one and a half of these.
    request_s: one request. refused_retry_s: before a retry with a rejected password.
    health_interval_s: between two health probes. health_timeout_s: of one probe.
    rare_health_interval_s: between two probes of a node that this engine has no calls on.
    first_retry_s, max_retry_s: the shortest and longest reconnection delay, before jitter.
    max_connections: of one node's HTTP pool, websockets included; http.conf has `sessionlimit`.
    """

    connect_s: float = 5.0
    close_s: float = 1.0
    probe_s: float = 0.5
    heartbeat_s: float = 4.0
    request_s: float = 10.0
    refused_retry_s: float = 30.0
    health_interval_s: float = 0.3
    rare_health_interval_s: float = 5.0
    health_timeout_s: float = 0.7
    first_retry_s: float = 0.1
    max_retry_s: float = 5.0
    max_connections: int = 64


DEFAULT_TIMEOUTS = Timeouts()


class PbxConnection(Struct, frozen=True):
    """A node and the means to reach it; `http` sends credentials, `clock` is in seconds."""

    address: PbxAddress
    http: ClientSession
    random: Callable[[], float]
    clock: Callable[[], float]
    timeouts: Timeouts = Timeouts()

    def url_for(self, uri: str) -> URL:
        """Return the URL of a request's `uri`, which is encoded already."""
        return URL(f"{self.address.url}/{uri}", encoded=True)
