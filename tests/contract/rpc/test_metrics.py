"""The /metrics page after a call."""

import random

from prometheus_client.parser import text_string_to_metric_families

from engine.calls.model.events import LegAnswered, LegCreated
from engine.runtime.streams.gateway_client import GatewayClient
from engine.runtime.streams.gateway_pool import Gateway
from tests.harness.rpc.scene import RpcScene, end, inject, is_stored_as
from tests.harness.until import until

Samples = dict[str, list[tuple[dict[str, str], float]]]


async def test_a_call_is_counted_from_begin_to_end(scene: RpcScene) -> None:
    """The call is counted as live, then as ended; its commits are counted by slot."""
    call = await scene.start_call()
    slot = call.partition("-")[0]
    lives = _at(await _seen(scene), "switchroom_calls", slot=slot)
    assert {labels["state"]: value for labels, value in lives}["starting"] == 1
    inject(scene, LegCreated(f"{call}.l0"))
    inject(scene, LegAnswered(f"{call}.l0"))
    end(scene, call)
    await until(lambda: is_stored_as(scene, call, "completed"), what="the call's end")
    seen = await _seen(scene)
    assert sum(value for _, value in seen["switchroom_calls"]) == 0
    (started,) = _at(seen, "switchroom_calls_started_total")
    assert started == ({"node": "pbx1", "slot": slot, "direction": "outbound"}, 1)
    ((labels, ended),) = _at(seen, "switchroom_calls_ended_total")
    assert (labels["status"], labels["slot"], ended) == ("completed", slot, 1)
    assert _at(seen, "switchroom_commit_seconds_count", slot=slot)[0][1] >= 2
    assert _at(seen, "switchroom_calls_dropped_total", slot=slot)[0][1] == 0


async def test_requests_are_counted_by_operation(scene: RpcScene) -> None:
    """Operation labels contain no ids, and unknown paths create no series."""
    await scene.request("GET", "/calls/0-pbx1-00000000")
    await scene.request("GET", "/what/ever")
    async with scene.session.get(f"{scene.url}/rpc/v1/calls") as refused:
        assert refused.status == 401
    counted = {
        (labels["operation"], labels["status"]): value
        for labels, value in (await _seen(scene))["switchroom_rpc_request_seconds_count"]
    }
    assert counted == {
        ("GET /calls/{call}", "404"): 1,
        ("unknown", "404"): 1,
        ("GET /calls", "401"): 1,
    }


async def test_a_refused_call_is_counted(scene: RpcScene) -> None:
    """Rejected calls are counted by reason."""
    scene.service.node_selection.rate_limiter.max_calls = 0
    body = {"account": "acme", "from": "+4799999999", "to": "+4711111111"}
    assert (await scene.problem("POST", "/calls", body)) == (503, "overloaded")
    refused = _at(await _seen(scene), "switchroom_calls_rejected_total", reason="overloaded")
    assert [value for labels, value in refused if labels["direction"] == "outbound"] == [1]


async def test_limits_stand_beside_what_comes_near_them(scene: RpcScene) -> None:
    """Each limit has a gauge."""
    seen = await _seen(scene)
    assert seen["switchroom_calls_limit"] == [({}, 10_000)]
    assert seen["switchroom_calls_headroom"][0][1] == 10_000
    assert seen["switchroom_trunk_legs"] == [({}, 0)]
    assert seen["switchroom_shards"] == [({}, 2)]
    assert [value for _, value in seen["switchroom_shard_held"]] == [1, 1]
    assert [value for _, value in seen["switchroom_store_up"]] == [1, 1]
    assert seen["switchroom_node_up"] == [({"node": "pbx1"}, 1)]


async def test_stream_gateways_are_counted_by_state(scene: RpcScene) -> None:
    """Of each node that has some; a state without gateways is 0."""
    assert "switchroom_node_stream_gateways" not in await _seen(scene)
    client = GatewayClient("http://127.0.0.1:8095", "", scene.session, random.random)
    draining, lost = Gateway(client), Gateway(client)
    draining.is_connected = draining.is_draining = True
    scene.service.nodes["pbx1"].gateways = (draining, lost)
    seen = (await _seen(scene))["switchroom_node_stream_gateways"]
    assert {labels["state"]: value for labels, value in seen} == {
        "available": 0,
        "draining": 1,
        "disconnected": 1,
    }


async def _seen(scene: RpcScene) -> Samples:
    async with scene.session.get(f"{scene.url}/metrics") as got:
        page = await got.text()
    found: Samples = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def _at(seen: Samples, name: str, **labels: str) -> list[tuple[dict[str, str], float]]:
    return [each for each in seen.get(name, []) if labels.items() <= each[0].items()]
