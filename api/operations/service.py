"""What operators see of the installation, from any engine; only its calls are accounts' data."""

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from api.common.projection import project
from api.common.timestamps import format_ms
from api.engine_client import EngineClient, call_path, id_in_path
from api.http.paging import Page
from api.operations.engine_views import EngineViews
from api.operations.schemas import (
    AudioCacheList,
    AudioCacheView,
    CheckResult,
    DoctorResults,
    EngineList,
    EngineView,
    LiveCallList,
    NodeList,
    NodeView,
    ShardPage,
    ShardView,
    StoreServerView,
    StoreState,
)
from wire import cluster, rpc
from wire.shard import parse_shard
from wire.views import Calls, EndedCalls, Replay


class OperationsService(Struct, frozen=True):
    engine: EngineClient
    views: EngineViews

    async def nodes(self) -> NodeList:
        found = await self.engine.request(rpc.Nodes, "GET", "/nodes")
        views = [project(NodeView, each) for each in found.nodes]
        return NodeList(tuple(sorted(views, key=lambda each: each.name)), len(views))

    async def set_drained(self, node: str, *, is_drained: bool) -> NodeView:
        """Stop or allow new calls to a node; raises NotFound."""
        path = f"/nodes/{id_in_path(node)}/{'drain' if is_drained else 'undrain'}"
        return project(NodeView, await self.engine.request(rpc.NodeView, "POST", path))

    async def slots(self) -> rpc.Slots:
        return await self.engine.request(rpc.Slots, "GET", "/slots")

    async def set_slots(self, body: rpc.PutSlots) -> rpc.Slots:
        return await self.engine.request(rpc.Slots, "PUT", "/slots", body)

    async def calls(self, account: str, node: str) -> LiveCallList:
        """List the live calls, of one account or on one node if they are named."""
        query = {"account": account} if account else {}
        found = await self.engine.request(Calls, "GET", "/calls", query=query)
        shown = (each for each in found.calls if node in {"", each.node})
        rows = tuple(sorted(shown, key=lambda each: (each.created_ms, each.call_id)))
        return LiveCallList(rows, len(rows))

    async def ended_calls(self, limit: int) -> EndedCalls:
        query = {"limit": str(limit)}
        return await self.engine.request(EndedCalls, "GET", "/calls/ended", query=query)

    async def replay(self, call_id: str) -> Replay:
        """Compare a call with what this version does, also the events that it published."""
        return await self.engine.request(Replay, "GET", call_path(call_id, "/replay"))

    async def engines(self) -> EngineList:
        found = await self.views.get()
        views = tuple(_engine_view(each) for each in found.engines)
        return EngineList(views, len(views))

    async def shards(self, page: Page) -> ShardPage:
        found = await self.views.get()
        unowned = [ShardView(each, None, 0, 0, 0, True, False) for each in found.unowned]
        owned = [
            project(ShardView, shard, engine=each.engine)
            for each in found.engines
            for shard in each.shards
        ]
        rows = [*unowned, *sorted(owned, key=lambda each: parse_shard(each.shard))]
        shown = tuple(rows[page.offset :][: page.limit])
        return ShardPage(shown, len(rows), page.limit, page.offset)

    async def store(self) -> StoreState:
        found = await self.engine.request(cluster.StoreView, "GET", "/store")
        engines = (await self.views.get()).engines
        shards = [shard for each in engines for shard in each.shards]
        lag_events = Counter[str]()
        for each in engines:
            lag_events.update(each.lag_events)
        return project(
            StoreState,
            found,
            servers=tuple(project(StoreServerView, each) for each in found.servers),
            pending_changes=sum(each.pending_changes for each in shards),
            lag_ms=max((each.lag_ms for each in shards), default=0),
            dead_lettered=sum(each.dead_lettered for each in engines),
            lag_events=dict(lag_events),
        )

    async def audio_caches(self) -> AudioCacheList:
        found = await self.views.get()
        views = tuple(
            project(AudioCacheView, each.audio_cache, engine=each.engine)
            for each in found.engines
            if each.is_responding
        )
        return AudioCacheList(views, len(views))

    async def doctor(self) -> DoctorResults:
        found = await self.engine.request(cluster.DoctorReport, "GET", "/doctor")
        return DoctorResults(
            format_ms(found.checked_ms) if found.checked_ms else None,
            found.duration_ms,
            found.is_running,
            tuple(_worst_first(found)),
        )


def _engine_view(found: cluster.EngineView) -> EngineView:
    return project(
        EngineView,
        found,
        started_time=format_ms(found.started_ms) if found.started_ms else None,
        shards=tuple(each.shard for each in found.shards),
    )


def _worst_first(report: cluster.DoctorReport) -> Iterator[CheckResult]:
    for level in ("FAIL", "WARN", "OK"):
        yield from (project(CheckResult, each) for each in report.findings if each.level == level)
