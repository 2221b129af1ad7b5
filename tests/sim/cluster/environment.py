"""What the engines of a cluster share, and what outlives them."""

import random
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from engine.calls.model.storage_format import FORMAT
from engine.runtime.base.interfaces import CallRecorder, Pbx
from engine.runtime.cluster.lease import Lease, LeaseTimings
from engine.runtime.pbx.wrappers import FencedPbx
from engine.runtime.pbx_nodes.node import PeerDigits, StreamReports
from engine.runtime.recording.recorder import FencedRecorder, Recorder
from engine.runtime.shard.shard import CallShard
from tests.harness.sim.pbx import SimPbx
from tests.harness.sim.recorder import Archive
from tests.harness.sim.redis import SimRedis
from tests.harness.sim.shared_clock import SharedClock
from tests.harness.sim.streams.gateway import SimGateway
from tests.harness.sim.webhooks import SimServers
from tests.sim.cluster.faults import ClusterFaults
from tests.sim.cluster.lease_checker import LeaseChecker
from tests.sim.engine_run import PartOverrides
from wire.media import Clip, Source
from wire.shard import ShardId


def _same(part: Any) -> Any:
    return part


class ClusterOverrides(Struct, frozen=True):
    """Replacements for parts of engines that work together, to plant faults."""

    engine: PartOverrides = PartOverrides()
    fence_pbx: Callable[[Pbx, Lease], Pbx] = FencedPbx
    fence_recorder: Callable[[Recorder, Lease], CallRecorder] = FencedRecorder
    lease: Callable[[Lease], Any] = _same  # as a shard sees it
    link: Callable[[Any], Any] = _same
    action_client: Callable[[Any, str], Any] = lambda action_client, _engine: (
        action_client
    )  # by engine
    shards: Callable[[Any], Any] = _same
    shard: type[CallShard] = CallShard
    listener: Callable[[Any], Any] = _same
    stream_reports: Callable[[StreamReports], StreamReports] = _same
    peer_digits: Callable[[PeerDigits], PeerDigits] = _same
    stored_format: Callable[[str], int] = lambda _engine: FORMAT  # by engine
    clock_offset_ms: Callable[[str], int] = lambda _engine: 0  # by engine


class ClusterEnvironment(Struct, frozen=True):
    clock: SharedClock
    rng: random.Random
    pbxs: dict[str, SimPbx]
    gateways: dict[str, SimGateway]  # of media streams, one beside each PBX
    redis: SimRedis
    servers: SimServers
    faults: ClusterFaults
    lease_checker: LeaseChecker
    archive: Archive
    archive_url: str  # empty: recording is off
    slots: int  # per node
    capacity: int  # live calls of an engine
    timings: LeaseTimings
    overrides: ClusterOverrides
    max_log_lines: int
    keeps_order: bool  # whether requests to the PBXs go over websockets
    cached_media: dict[Source, Clip] = {}
    say: Callable[[str], None] | None = None

    @property
    def shards(self) -> list[ShardId]:
        """Return all shards."""
        return [ShardId(node, slot) for node in self.pbxs for slot in range(self.slots)]

    @property
    def apps(self) -> list[str]:
        """Return the Stasis apps of a node's slots."""
        return [f"switchroom-{slot}" for slot in range(self.slots)]
