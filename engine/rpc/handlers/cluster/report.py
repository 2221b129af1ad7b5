"""What an engine reports of itself, and what the heartbeats of the others say."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version

from msgspec import Struct

from engine.media.clip_cache import ClipCache
from engine.observe.metrics import Metrics
from engine.rpc.health import readiness
from engine.rpc.peers.client import ShardDirectory
from engine.runtime.call_service import CallService
from engine.runtime.cluster.membership import Peer
from wire.cluster import AudioCache, EngineShard, EngineView

NO_RESPONSE = "it does not respond"


def _supervises_nothing(_node: str) -> bool:
    return False


class ClusterPlace(Struct, frozen=True):
    """This engine among the others, which `others` returns by name; the defaults are for one."""

    name: str = "engine"
    url: str = ""
    started_ms: int = 0
    capacity: int = 0  # of live calls
    others: Callable[[], Mapping[str, Peer]] = dict[str, Peer]
    supervises: Callable[[str], bool] = _supervises_nothing


class EngineReport(Struct, frozen=True):
    """Reports the state of this engine; reads nothing but memory."""

    service: CallService
    shard_directory: ShardDirectory
    clip_cache: ClipCache
    metrics: Metrics
    place: ClusterPlace

    def view(self) -> EngineView:
        service, place = self.service, self.place
        found = readiness(service, self.shard_directory)
        return EngineView(
            place.name,
            place.url,
            is_ready=found.is_ready,
            faults=found.faults,
            version=version("switchroom"),
            started_ms=place.started_ms,
            calls=service.live_calls,
            capacity=place.capacity,
            supervised=tuple(sorted(filter(place.supervises, service.nodes))),
            shards=tuple(self._shards()),
            audio_cache=self._audio_cache(),
            dead_lettered=self.metrics.callbacks.dead_lettered.total,
            lag_events={group: lag for (group,), lag in self.metrics.consumer_groups.lag},
        )

    def _shards(self) -> Iterator[EngineShard]:
        for _name, node in sorted(self.service.nodes.items()):
            for _slot, shard in sorted(node.shards.items()):
                pending, lag_s = shard.backlog
                yield EngineShard(
                    str(shard.context.id),
                    len(shard.calls),
                    pending,
                    round(lag_s * 1000),
                    shard.is_paused,
                    shard.can_store,
                )

    def _audio_cache(self) -> AudioCache:
        cache, failures = self.clip_cache, Counter[str]()
        for (_kind, reason), number in self.metrics.external.media_failures:
            failures[reason] += number
        clips, size_bytes = cache.size
        return AudioCache(clips, size_bytes, cache.pending, cache.hits, cache.misses, failures)


def view_of_heartbeat(name: str, peer: Peer) -> EngineView:
    """Return what is known of an engine that does not respond."""
    return EngineView(
        name,
        peer.url,
        is_responding=False,
        faults=(NO_RESPONSE,),
        calls=sum(peer.shards.values()),
        capacity=peer.capacity,
        shards=tuple(EngineShard(shard, calls) for shard, calls in sorted(peer.shards.items())),
    )
