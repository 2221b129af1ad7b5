"""The installation as its operators see it: engines with their shards, the store, the doctor."""

from typing import Literal

from msgspec import field

from wire.base import Shape

CheckLevel = Literal["OK", "WARN", "FAIL"]


class EngineShard(Shape, frozen=True):
    """A shard of an engine: its live calls, and what the store does not have yet.

    `lagMs` is for how long the present commit has been in progress. A paused shard has a node that
    is disconnected, or a lease that has expired.
    """

    shard: str
    calls: int = 0
    pending_changes: int = 0
    lag_ms: int = 0
    is_paused: bool = False
    can_store: bool = True


class AudioCache(Shape, frozen=True):
    """An engine's audio clips, and what has happened since it started.

    `inProgress` clips are being made or wait for it; `failures` are counted by reason.
    """

    clips: int = 0
    bytes: int = 0
    in_progress: int = 0
    hits: int = 0
    misses: int = 0
    failures: dict[str, int] = field(default_factory=dict)


class EngineView(Shape, frozen=True):
    """One engine; without a response of it only what its heartbeat says.

    `capacity` is its maximum of live calls, `supervised` are the PBX nodes that it supervises.
    `deadLettered` events could not be delivered since it started. `lagEvents` are those that each
    consumer group has not read yet, in the shards of this engine.
    """

    engine: str
    url: str
    is_responding: bool = True
    is_ready: bool = False
    faults: tuple[str, ...] = ()
    version: str = ""
    started_ms: int = 0
    calls: int = 0
    capacity: int = 0
    supervised: tuple[str, ...] = ()
    shards: tuple[EngineShard, ...] = ()
    audio_cache: AudioCache = AudioCache()
    dead_lettered: int = 0
    lag_events: dict[str, int] = field(default_factory=dict)


class Engines(Shape, frozen=True):
    """The live engines, and the shards that none of them has."""

    engines: tuple[EngineView, ...]
    unowned: tuple[str, ...] = ()


class StoreServer(Shape, frozen=True):
    """A server of the store: `kind` is `redis`, `valkey` or `memory`."""

    kind: str
    address: str = ""
    version: str = ""
    role: str = ""
    used_bytes: int = 0
    max_bytes: int | None = None
    clients: int = 0


class StoreView(Shape, frozen=True):
    """The store as one engine reaches it; a cluster has several servers."""

    is_reachable: bool
    error: str = ""
    latency_ms: float = 0.0
    servers: tuple[StoreServer, ...] = ()
    pending_callbacks: int = 0  # calls with events that are not delivered yet


class DoctorFinding(Shape, frozen=True):
    """A result of a check: what was checked, what was found, what to do; the code has a page."""

    level: CheckLevel
    subject: str
    text: str
    advice: str = ""
    code: str = ""
    link: str = ""


class DoctorReport(Shape, frozen=True):
    """The results of the checks that ran last, and when that was; 0: they have not ended once."""

    checked_ms: int = 0
    duration_ms: int = 0
    is_running: bool = False
    findings: tuple[DoctorFinding, ...] = ()
