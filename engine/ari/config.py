"""One PBX node: where it is, how to be let in, and how patient to be with it."""

from collections.abc import Callable

import aiohttp
from aiohttp import ClientSession
from msgspec import Struct
from yarl import URL

# Nobody acts on these; left out, they cost neither Asterisk nor us.
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
    "ChannelHangupRequest",
    "ChannelHold",
    "ChannelLeftBridge",
    "ChannelUnhold",
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
    """A node's name, its ARI root (`http://host:8088/ari`), and a user of its ari.conf."""

    name: str
    url: str
    username: str
    password: str

    @property
    def headers(self) -> dict[str, str]:
        """What authorizes a request; a password in an address would end up in logs."""
        return {"Authorization": aiohttp.encode_basic_auth(self.username, self.password)}

    def __repr__(self) -> str:
        return f"PbxAddress({self.name!r}, {self.url!r}, {self.username!r})"


class Timeouts(Struct, frozen=True):
    """Limits, in seconds unless they say otherwise.

    connect_s: one handshake; Asterisk may accept and never finish it (asterisk#1979).
    proof_s: until an app's events are known to come; longer at each attempt that fails.
    heartbeat_s: between pings; a dead peer is noticed within one and a half of these.
    slow_s: one request. refused_s: before asking again with a password that was refused.
    pulse_s: between two questions whether it is there. pulse_answer_s: until one is in vain.
    first_retry_s, retry_s: the shortest and longest wait before reconnecting, before jitter.
    connections: of one node's HTTP pool, websockets included; http.conf has `sessionlimit`.
    """

    connect_s: float = 5.0
    close_s: float = 1.0
    probe_s: float = 0.5
    heartbeat_s: float = 4.0
    request_s: float = 10.0
    refused_retry_s: float = 30.0
    health_interval_s: float = 0.3
    health_timeout_s: float = 0.7
    first_retry_s: float = 0.1
    max_retry_s: float = 5.0
    max_connections: int = 64


class PbxConnection(Struct, frozen=True):
    """A node and what reaching it takes; `http` is authorized already, `clock` in seconds."""

    address: PbxAddress
    http: ClientSession
    random: Callable[[], float]
    clock: Callable[[], float]
    timeouts: Timeouts = Timeouts()

    def url_for(self, uri: str) -> URL:
        """Give the full address of a request's `uri`, which is encoded already."""
        return URL(f"{self.address.url}/{uri}", encoded=True)
