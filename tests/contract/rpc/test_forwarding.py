"""Any engine answers: requests are forwarded once, and lists cover all engines."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.rpc.peers.client import (
    FORWARDED,
    OWNER_WAIT_S,
    RETRY_DELAY_S,
    SHUTDOWN_WAIT_S,
)
from engine.runtime.call_service import CallService
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.pbx_nodes.node_health import NodeHealth
from engine.runtime.policy.capacity_limits import CapacityLimits
from tests.harness.rpc.conversation import AGENT, talking
from tests.harness.rpc.pair import BrokenEngine, EnginePair, request_of, running_pair
from tests.harness.rpc.scene import CALL, TOKEN
from tests.harness.shards import at
from tests.harness.until import until

ADA = {"requestedByAgentId": AGENT, "targetAgentIds": ["1002"]}


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[EnginePair]:
    """Run two engines."""
    async with running_pair(tmp_path) as made:
        yield made


async def test_what_is_the_others_is_done_there(pair: EnginePair) -> None:
    """Control requests are forwarded; the responses are the owner's, also errors."""
    conversation = await talking(pair.two)
    here = f"/calls/{conversation.call}"
    status, view = await pair.one.request(
        "POST", f"{here}/mute", {"channelId": conversation.customer}
    )
    assert (status, view["legs"][0]["muted"]) == (200, "in")
    body = {"channelId": f"{conversation.call}.l9"}
    assert await pair.one.problem("POST", f"{here}/mute", body) == (404, "no_such_leg")
    assert await pair.one.problem("POST", f"{here}/mute", {}) == (400, "invalid")
    status, _ = await pair.one.request("POST", f"{here}/hangup", {})
    assert status == 200
    conversation.leaves(conversation.agent)
    conversation.leaves(conversation.customer)
    await until(lambda: pair.two.service.live_calls == 0)
    assert pair.one.pbx.lines == []


async def test_a_request_has_its_shard(pair: EnginePair) -> None:
    """The owner of the requestId's shard starts the call; a repeat returns the same call."""
    body = {**CALL, "requestId": await request_of(pair, 1)}
    status, first = await pair.one.request("POST", "/calls", body)
    assert (status, first["callId"][0]) == (201, "1")
    assert await pair.two.request("POST", "/calls", body) == (201, first)
    assert (pair.one.service.live_calls, pair.two.service.live_calls) == (0, 1)


async def test_an_engine_without_shards(pair: EnginePair) -> None:
    """An engine without shards lets another engine start a call."""
    pair.one.service.nodes["pbx1"].remove_shard(0)
    pair.directories[pair.one].mine = set()
    status, _ = await pair.one.request("POST", "/calls", CALL)
    assert (status, pair.two.service.live_calls) == (201, 1)


async def test_a_call_is_passed_on_to_an_engine_with_less_load(pair: EnginePair) -> None:
    """It starts here if that engine refuses it for its load, or does not respond."""
    one, two = pair.one.service, pair.two.service
    _add_light_node(pair)
    await pair.one.start_call()
    assert (one.live_calls, two.live_calls) == (0, 1)
    two.nodes["pbx1"].pause_slot(1)
    await pair.one.start_call()
    assert (one.live_calls, two.live_calls) == (1, 1)
    pair.directories[pair.one].where = {}
    await pair.one.start_call()
    assert (one.live_calls, two.live_calls) == (2, 1)


async def test_a_full_engine_lets_another_one_start_a_call(pair: EnginePair) -> None:
    """Also a call whose requestId it got before it was full, whichever engine gets it again."""
    one, two = pair.one.service, pair.two.service
    _fill(one)
    await pair.one.start_call()
    for number, scene in enumerate((pair.one, pair.two)):
        body = {**CALL, "requestId": f"request_{number}"}
        await scene.store.reserve_request(f"request_{number}", f"0-pbx1-request_{number}")
        status, started = await scene.request("POST", "/calls", body)
        assert (status, started) == (201, {"callId": f"1-pbx1-request_{number}"})
        assert await pair.one.request("POST", "/calls", body) == (201, started)
    assert (one.live_calls, two.live_calls) == (0, 3)
    _fill(two)
    assert await pair.one.problem("POST", "/calls", CALL) == (503, "overloaded")


async def test_a_full_engine_to_which_a_call_is_passed_on(pair: EnginePair) -> None:
    """The call starts where it was requested."""
    _add_light_node(pair)
    _fill(pair.two.service)
    status, started = await pair.one.request("POST", "/calls", {**CALL, "requestId": "request_1"})
    assert (status, started) == (201, {"callId": "0-pbx1-request_1"})


async def test_a_call_that_may_have_started_elsewhere(pair: EnginePair) -> None:
    """It is not started here as well."""
    _add_light_node(pair)
    async with BrokenEngine().running() as broken:
        pair.directories[pair.one].where = {at(1): broken.url}
        assert await pair.one.problem("POST", "/calls", CALL) == (503, "owner_lost")
    assert pair.one.service.live_calls == 0


async def test_reading(pair: EnginePair) -> None:
    """Each engine shows each call and its timeline, and lists the calls of both."""
    calls = {await pair.one.start_call(), await pair.two.start_call()}
    assert {call[0] for call in calls} == {"0", "1"}
    for scene in (pair.one, pair.two):
        for call in calls:
            assert (await scene.request("GET", f"/calls/{call}"))[1]["callId"] == call
            assert (await scene.request("GET", f"/calls/{call}/timeline"))[0] == 200
        for query, result in (("", calls), ("?account=acme", calls), ("?account=other", set())):
            status, shown = await scene.request("GET", f"/calls{query}")
            assert (status, {each["callId"] for each in shown["calls"]}) == (200, result)


async def test_what_the_store_has_lost(pair: EnginePair) -> None:
    """The owner still knows the call; other engines do not answer 404."""
    conversation = await talking(pair.two)
    pair.two.store.lose_all()
    assert (await pair.one.request("GET", f"/calls/{conversation.call}"))[1][
        "callId"
    ] == conversation.call
    nowhere = f"{conversation.call[:-1]}x"
    assert await pair.one.problem("GET", f"/calls/{nowhere}") == (404, "not_found")


async def test_agents_are_seen_by_all(pair: EnginePair) -> None:
    """An agent in another engine's call is busy, alone and in the list."""
    await pair.one.documents.agent("acme", "1001", {"endpoint": "PJSIP/1001"})
    conversation = await talking(pair.two)
    for scene in (pair.one, pair.two):
        status, view = await scene.request("GET", "/agents/acme/1001")
        assert (status, view["busy"], view["callId"]) == (200, True, conversation.call)
        _, listed = await scene.request("GET", "/agents?account=acme")
        assert [(each["agentId"], each["busy"]) for each in listed["agents"]] == [("1001", True)]
        assert await scene.problem("GET", "/agents/acme/nobody") == (404, "not_found")


async def test_an_agents_conference_is_found(pair: EnginePair) -> None:
    """Any engine finds the conference of an agent; an agent without one gets 404."""
    conversation = await talking(pair.two)
    shown = await conversation.posted("conference/members", **ADA)
    for scene in (pair.one, pair.two):
        status, found = await scene.request("GET", "/agents/acme/1002/conference")
        assert (status, found) == (200, shown)
        assert await scene.problem("GET", "/agents/acme/1009/conference") == (
            404,
            "no_such_session",
        )


async def test_a_request_is_handed_on_once(pair: EnginePair) -> None:
    """Two engines that believe the other is the owner do not loop."""
    call = await pair.two.start_call()
    pair.two.service.nodes["pbx1"].remove_shard(1)
    headers = {"Authorization": f"Bearer {TOKEN}", FORWARDED: "1"}
    url = f"{pair.two.url}/rpc/v1/calls/{call}/hangup"
    async with pair.two.session.post(url, json={}, headers=headers) as got:
        assert (got.status, got.headers[FORWARDED]) == (503, "no-owner")
        assert got.headers["Retry-After"] == "1"


async def test_a_shard_between_two_owners(pair: EnginePair) -> None:
    """Requests wait and are executed by the next owner."""
    body = {**CALL, "requestId": await request_of(pair, 1)}
    where = pair.directories[pair.one].where.pop(at(1))
    asking = asyncio.create_task(pair.one.request("POST", "/calls", body))
    listing = asyncio.create_task(pair.one.request("GET", "/calls"))
    await until(
        lambda: pair.directories[pair.one].wakes > 10, what="the next owner to be looked for"
    )
    assert not asking.done()
    assert not listing.done()
    pair.directories[pair.one].where[at(1)] = where
    assert (await asking)[0] == 201
    assert (await listing)[0] == 200


async def test_a_shard_that_stays_without_an_owner(pair: EnginePair) -> None:
    """After the wait a request gets 503 with Retry-After; lists too, as they would be partial."""
    pair.directories[pair.one].where.clear()
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    body = {**CALL, "requestId": await request_of(pair, 1)}
    answers = await asyncio.gather(
        pair.one.problem("POST", "/calls", body), pair.one.problem("GET", "/calls")
    )
    assert {*answers} == {(503, "no_owner")}
    assert loop.time() - began_s >= OWNER_WAIT_S


async def test_what_may_have_been_done_is_not_done_again(pair: EnginePair) -> None:
    """The owner disconnects: a POST gets 503, a GET is retried at the next owner."""
    async with BrokenEngine().running() as deaf:
        pair.directories[pair.one].where[at(1)] = deaf.url
        body = {**CALL, "requestId": await request_of(pair, 1)}
        assert await pair.one.problem("POST", "/calls", body) == (503, "owner_lost")
        assert deaf.requests == ["POST /rpc/v1/calls"]
        listing = asyncio.create_task(pair.one.request("GET", "/calls"))
        await until(lambda: "GET /rpc/v1/calls" in deaf.requests)
        pair.directories[pair.one].where[at(1)] = pair.two.url
        assert (await listing)[0] == 200
    assert pair.two.service.live_calls == 0


async def test_an_owner_that_is_gone(pair: EnginePair) -> None:
    """A refused connection: the request was not sent, so the next owner executes it."""
    gone = BrokenEngine()
    pair.directories[pair.one].where[at(1)] = gone.url
    body = {**CALL, "requestId": await request_of(pair, 1)}
    asking = asyncio.create_task(pair.one.request("POST", "/calls", body))
    await until(
        lambda: pair.directories[pair.one].wakes > 10, what="the next owner to be looked for"
    )
    assert not asking.done()
    pair.directories[pair.one].where[at(1)] = pair.two.url
    assert (await asking)[0] == 201
    assert pair.two.service.live_calls == 1


async def test_an_engine_that_leaves(pair: EnginePair) -> None:
    """Requests go to the next owner, or get a 503 with Retry-After after a short wait."""
    conversation = await talking(pair.one)
    here = f"/calls/{conversation.call}"
    pair.one.service.releasing.add(at(0))
    pair.directories[pair.one].is_leaving = True
    wakes = pair.directories[pair.one].wakes
    for action, body in (("hangup", {}), ("mute", {"channelId": conversation.customer})):
        assert await pair.one.problem("POST", f"{here}/{action}", body) == (503, "no_owner")
    looks = pair.directories[pair.one].wakes - wakes
    assert looks <= 2 * (SHUTDOWN_WAIT_S / RETRY_DELAY_S + 1)
    pair.directories[pair.one].where[at(0)] = pair.two.url
    pair.two.service.nodes["pbx1"].add_shard(0, pair.one.service.nodes["pbx1"].shards.pop(0))
    assert (await pair.one.request("POST", f"{here}/hangup", {}))[0] == 200
    async with pair.one.session.get(f"{pair.one.url}/readyz") as got:
        assert (got.status, (await got.json())["faults"]) == (503, ["this engine is shutting down"])


def _fill(service: CallService) -> None:
    """Let an engine have no more calls than it has."""
    service.node_selection.rate_limiter.max_calls = service.live_calls


def _add_light_node(pair: EnginePair) -> None:
    """Add a node of engine `two` only, which has less load than the node of both."""
    first = pair.one.service
    first.nodes["pbx2"] = Node(
        "pbx2", pair.two.pbx, pair.one.clock, first.handle_incoming, lambda _dialled, _account: ""
    )
    pair.one.cluster.light_nodes = {"pbx2": at(1)}
    first.node_selection.configure("pbx2", CapacityLimits(weight=100), NodeHealth(pair.one.clock))
