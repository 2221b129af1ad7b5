"""What operators see of several engines: lists in order, and sums over all of them."""

from typing import Any, cast

import pytest
from msgspec import Struct

from api.engine_client import EngineClient
from api.http.paging import Page
from api.operations.engine_views import EngineViews
from api.operations.schemas import (
    AudioCacheView,
    EngineView,
    NodeView,
    ShardView,
    StoreServerView,
    StoreState,
)
from api.operations.service import OperationsService
from wire import cluster, rpc

BUSY = cluster.EngineView(
    "engine2",
    "http://engine2",
    started_ms=61_000,
    calls=3,
    shards=(
        cluster.EngineShard("pbx1/10", calls=1, pending_changes=2, lag_ms=30),
        cluster.EngineShard("pbx1/9", calls=2, pending_changes=3, lag_ms=70, is_paused=True),
    ),
    audio_cache=cluster.AudioCache(clips=4, hits=5),
    dead_lettered=1,
    lag_events={"records": 4, "live": 1},
)
SILENT = cluster.EngineView(
    "engine1",
    "http://engine1",
    is_responding=False,
    shards=(cluster.EngineShard("pbx1/2", lag_ms=50),),
    dead_lettered=6,
    lag_events={"records": 5},
)
ENGINES = cluster.Engines((BUSY, SILENT), ("pbx2/0",))


class ScriptedEngine:
    """An engine that gives each request its response."""

    def __init__(self, **responses: Struct) -> None:
        self._responses = responses

    async def request(self, _shape: type, _method: str, path: str) -> Any:
        """Return the response to a path."""
        return self._responses[path.split("/")[1]]


def service(found: cluster.Engines = ENGINES, **responses: Struct) -> OperationsService:
    async def read() -> cluster.Engines:
        return found

    return OperationsService(cast("EngineClient", ScriptedEngine(**responses)), EngineViews(read))


async def test_nodes_are_in_the_order_of_their_names() -> None:
    """Each has all fields of the engine's view."""
    nodes = (rpc.NodeView("pbx2", True, 2), rpc.NodeView("pbx1", False, 1, max_calls=9, loss=0.5))
    listed = await service(nodes=rpc.Nodes(nodes)).nodes()
    fields = ((), None, 0.5, 0.0)
    first = NodeView("pbx1", False, 1, False, "", 1.0, 9, None, False, True, *fields)
    assert (listed.data[0], listed.data[1].name, listed.total) == (first, "pbx2", 2)


async def test_engines_with_their_shards() -> None:
    """The start of one that does not respond is not known."""
    listed = await service().engines()
    shards, started = ("pbx1/10", "pbx1/9"), "1970-01-01T00:01:01.000Z"
    url, no = "http://engine2", ()
    busy = EngineView("engine2", url, True, False, no, "", started, 3, 0, no, shards, 1)
    assert (listed.data[0], listed.total) == (busy, 2)
    assert (listed.data[1].is_responding, listed.data[1].started_time) == (False, None)


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        (Page(9, 0), ["pbx2/0", "pbx1/2", "pbx1/9", "pbx1/10"]),
        (Page(2, 1), ["pbx1/2", "pbx1/9"]),
        (Page(9, 4), []),
    ],
)
async def test_shards_without_an_engine_come_first(page: Page, shown: list[str]) -> None:
    """The others follow by node and slot."""
    listed = await service().shards(page)
    assert [each.shard for each in listed.data] == shown
    assert (listed.total, listed.limit, listed.offset) == (4, page.limit, page.offset)


async def test_the_state_of_a_shard() -> None:
    """One without an engine stands still, and can store nothing."""
    listed = await service().shards(Page(9, 0))
    assert listed.data[0] == ShardView("pbx2/0", None, 0, 0, 0, True, False)
    assert listed.data[2] == ShardView("pbx1/9", "engine2", 2, 3, 70, True, True)


async def test_the_store_is_that_of_all_engines() -> None:
    """What waits is summed up over shards and engines; the lag is the longest."""
    server = cluster.StoreServer("redis", "store:6379", "7.2", "master", 10, 20, 3)
    found = cluster.StoreView(True, "", 1.5, (server,), pending_callbacks=8)
    shown = StoreServerView("redis", "store:6379", "7.2", "master", 10, 20, 3)
    lag = {"records": 9, "live": 1}
    assert await service(store=found).store() == StoreState(
        True, "", 1.5, (shown,), 5, 70, 8, 7, lag
    )
    alone = await service(cluster.Engines(()), store=found).store()
    assert (alone.pending_changes, alone.lag_ms, alone.lag_events) == (0, 0, {})


async def test_audio_caches_of_engines_that_respond() -> None:
    """Others have none to show."""
    listed = await service().audio_caches()
    assert (listed.data, listed.total) == ((AudioCacheView("engine2", 4, 0, 0, 5, 0, {}),), 1)


@pytest.mark.parametrize(("checked_ms", "time"), [(0, None), (1_000, "1970-01-01T00:00:01.000Z")])
async def test_findings_of_the_doctor(checked_ms: int, time: str | None) -> None:
    """The worst come first; those of one level stay in their order."""
    finding = cluster.DoctorFinding
    ok, worst = finding("OK", "a", ""), finding("FAIL", "c", "")
    findings = (ok, finding("WARN", "b", ""), worst, finding("WARN", "d", ""))
    report = cluster.DoctorReport(checked_ms, 250, is_running=True, findings=findings)
    shown = await service(doctor=report).doctor()
    assert (shown.checked_time, shown.duration_ms, shown.is_running) == (time, 250, True)
    assert [each.subject for each in shown.findings] == ["c", "b", "d", "a"]
