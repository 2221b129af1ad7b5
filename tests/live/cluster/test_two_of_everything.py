"""Two engines on two nodes spread, limit and drain calls like one engine."""

from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from http import HTTPStatus
from pathlib import Path

import pytest

from tests.harness.metrics_page import figures
from tests.harness.pbx.two_nodes import WAITS, TwoNodes, node_of
from tests.harness.servers.engine import Engine, RequestError
from tests.harness.until import until


@pytest.fixture
async def other(two: TwoNodes, tmp_path: Path) -> AsyncIterator[Engine]:
    """Run a second engine on the same nodes."""
    async with two.new_engine(tmp_path / "other", two.nodes) as engine:
        await until(
            lambda: _are_connected(two.engine, engine), what="both engines to reach both nodes"
        )
        yield engine


async def test_limits_count_the_calls_of_all_engines(two: TwoNodes, other: Engine) -> None:
    """Weights and limits apply across engines; each engine shows the calls of both."""
    placed: Counter[str] = Counter()
    for engine in [two.engine, other] * 4:
        placed[node_of(await _call(engine))] += 1
        await until(
            lambda: _have_counts(two.engine, other, placed), what="both engines to count all calls"
        )
    assert placed == {"pbx1": 6, "pbx2": 2}
    for _ in range(2):
        placed[node_of(await _call(other, node="pbx2"))] += 1
    await until(
        lambda: _have_counts(two.engine, other, placed), what="both engines to count all calls"
    )
    for engine in (two.engine, other):
        assert await _refused(engine, node="pbx2") == (503, "node_full")
        await until(partial(_knows_trunk_legs, engine, 10), what="a heartbeat with all trunk legs")
        assert await _refused(engine) == (503, "trunk_full")


async def test_a_drain_applies_to_all_engines(two: TwoNodes, other: Engine) -> None:
    """A drain and its end, requested at either engine, apply to both."""
    await other.rpc("POST", "/nodes/pbx1/drain")
    await until(lambda: _is_drained(two.engine), what="the drain at the first engine")
    assert {node_of(await _call(engine)) for engine in (two.engine, other)} == {"pbx2"}
    await two.engine.rpc("POST", "/nodes/pbx1/undrain")
    await until(lambda: _is_undrained(other), what="the undrain at the other engine")


async def _call(engine: Engine, **request: object) -> str:
    return await engine.originate(
        **{"from": "+15550001", "to": "+15550100", "action": WAITS, **request}
    )


async def _knows_trunk_legs(engine: Engine, legs: int) -> bool:
    return (await figures(engine))["switchroom_trunk_legs", ()] == legs


async def _refused(engine: Engine, **request: object) -> tuple[int, str]:
    with pytest.raises(RequestError) as refused:
        await _call(engine, **request)
    return refused.value.status, str(refused.value.problem["code"])


async def _nodes(engine: Engine) -> list[dict[str, object]]:
    return list((await engine.rpc("GET", "/nodes"))["nodes"])


async def _are_connected(*engines: Engine) -> bool:
    try:
        nodes = [node for engine in engines for node in await _nodes(engine)]
    except RequestError as refused:
        if refused.status != HTTPStatus.SERVICE_UNAVAILABLE:
            raise
        return False  # an engine of an earlier test has just ended
    return all(node["connected"] for node in nodes)


async def _have_counts(first: Engine, second: Engine, placed: Counter[str]) -> bool:
    counts = [{n["name"]: n["calls"] for n in await _nodes(e)} for e in (first, second)]
    expected = {"pbx1": placed["pbx1"], "pbx2": placed["pbx2"]}
    return counts == [expected, expected]


async def _is_drained(engine: Engine) -> bool:
    return bool((await _nodes(engine))[0].get("drained"))


async def _is_undrained(engine: Engine) -> bool:
    return not await _is_drained(engine)
