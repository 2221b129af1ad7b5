"""Views of the installation: every field is there, also one that an engine leaves out as usual."""

from msgspec import Struct

from wire.cluster import CheckLevel
from wire.views import CallView


class NodeView(Struct, frozen=True, rename="camel"):
    """One PBX node: `calls` are those of all engines.

    `unavailableReason` is the rejection code for new calls, empty when the node accepts them. From
    the manager interface: `coreCalls`, the node's own count of calls, and the loss and jitter of
    recently received packets.
    """

    name: str
    connected: bool
    calls: int
    drained: bool
    unavailable_reason: str
    weight: float
    max_calls: int | None
    max_calls_per_s: int | None
    ami_connected: bool
    trunk_reachable: bool
    unregistered: tuple[str, ...]
    core_calls: int | None
    loss: float
    jitter_ms: float


class NodeList(Struct, frozen=True):
    """All PBX nodes, by name."""

    data: tuple[NodeView, ...]
    total: int


class LiveCallList(Struct, frozen=True):
    """Live calls, oldest first."""

    data: tuple[CallView, ...]
    total: int


class EngineView(Struct, frozen=True, rename="camel"):
    """One engine; without a response of it only what its heartbeat says.

    `capacity` is its maximum of live calls, `supervised` are the PBX nodes that it supervises.
    `deadLettered` events could not be delivered since it started.
    """

    engine: str
    url: str
    is_responding: bool
    is_ready: bool
    faults: tuple[str, ...]
    version: str
    started_time: str | None
    calls: int
    capacity: int
    supervised: tuple[str, ...]
    shards: tuple[str, ...]
    dead_lettered: int


class EngineList(Struct, frozen=True):
    """All live engines, by name."""

    data: tuple[EngineView, ...]
    total: int


class ShardView(Struct, frozen=True, rename="camel"):
    """A shard and its engine; `engine` is null while no engine has it.

    `pendingChanges` are not in the store yet; `lagMs` is for how long the present commit has been
    tried. A paused shard has a node that is disconnected, or a lease that has expired.
    """

    shard: str
    engine: str | None
    calls: int
    pending_changes: int
    lag_ms: int
    is_paused: bool
    can_store: bool


class ShardPage(Struct, frozen=True):
    """A page of shards, those without an engine first, then by node and slot."""

    data: tuple[ShardView, ...]
    total: int
    limit: int
    offset: int


class StoreServerView(Struct, frozen=True, rename="camel"):
    """A server of the store; `maxBytes` is null if it has no limit."""

    kind: str
    address: str
    version: str
    role: str
    used_bytes: int
    max_bytes: int | None
    clients: int


class StoreState(Struct, frozen=True, rename="camel"):
    """The store as one engine reaches it, and what all engines have not stored or delivered yet.

    `lagMs` is the longest of the commits in progress, `pendingCallbacks` counts calls with events
    that are not delivered yet. `deadLettered` events could not be delivered since the engines
    started. `lagEvents` are those that each consumer group has not read yet.
    """

    is_reachable: bool
    error: str
    latency_ms: float
    servers: tuple[StoreServerView, ...]
    pending_changes: int
    lag_ms: int
    pending_callbacks: int
    dead_lettered: int
    lag_events: dict[str, int]


class AudioCacheView(Struct, frozen=True, rename="camel"):
    """The audio clips of one engine, and what has happened since it started.

    `inProgress` clips are being made or wait for it; `failures` are counted by reason.
    """

    engine: str
    clips: int
    bytes: int
    in_progress: int
    hits: int
    misses: int
    failures: dict[str, int]


class AudioCacheList(Struct, frozen=True):
    """The audio caches of the engines that respond, by the engine's name."""

    data: tuple[AudioCacheView, ...]
    total: int


class AlertView(Struct, frozen=True, rename="camel"):
    """An alert that fires; `runbookUrl` is empty if its rule has no address of a page."""

    name: str
    severity: str
    since: str
    summary: str
    runbook_url: str
    labels: dict[str, str]


class AlertList(Struct, frozen=True):
    """The alerts that fire, the most severe first; `reason` says why they are not known."""

    data: tuple[AlertView, ...]
    total: int
    reason: str


class CheckResult(Struct, frozen=True):
    """A result of a check: what was found, what to do; `link` is the page of its code."""

    level: CheckLevel
    subject: str
    text: str
    advice: str
    code: str
    link: str


class DoctorResults(Struct, frozen=True, rename="camel"):
    """The results of the checks that ran last, the worst first.

    `checkedTime` is null until they have ended once.
    """

    checked_time: str | None
    duration_ms: int
    is_running: bool
    findings: tuple[CheckResult, ...]
