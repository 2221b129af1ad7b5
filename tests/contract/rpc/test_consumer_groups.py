"""Consumer groups over the RPC: delivery, redelivery until acknowledged, and lost events."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.store.stream import Consumer, StreamLimits
from tests.harness.rpc.event_readers import listening
from tests.harness.rpc.scene import TOKEN, RpcScene, end
from tests.harness.shards import at
from tests.harness.store.unreliable_memory import UnreliableStore
from wire.events.call_events import VERSION, CallEvent
from wire.schemas import event_schema

CDR = "/events?group=cdr&consumer=api1"
NEWER = b'{"event":"sung","callId":"0-pbx1-abcdefgh","accountId":"acme","version":9}'


async def taken(scene: RpcScene, query: str = "") -> dict[str, Any]:
    """Read a batch for the group."""
    status, batch = await scene.request("GET", f"{CDR}{query}")
    assert status == 200, batch
    return dict(batch)


async def acknowledged(scene: RpcScene, *ids: str) -> int:
    """Acknowledge ids; return how many were pending."""
    status, answer = await scene.request("POST", "/events/ack", {"group": "cdr", "ids": ids})
    assert status == 200, answer
    return int(answer["acknowledged"])


async def test_a_group_gets_every_event_once(scene: RpcScene) -> None:
    """Events begin with the oldest, each with an id to acknowledge; the last has the record."""
    call = await scene.start_call()
    end(scene, call)
    delivered: list[dict[str, Any]] = []
    while len(delivered) < 2:  # they may come in two commits
        delivered += (await taken(scene, "&wait=5&limit=1000"))["events"]
    events = [each["event"] for each in delivered]
    assert [each["event"] for each in events] == ["initiated", "completed"]
    assert [each["version"] for each in events] == [VERSION, VERSION]
    assert events[1]["record"]["callId"] == call
    assert "record" not in events[0]
    assert (await taken(scene))["events"] == []
    ids = [each["id"] for each in delivered]
    assert await acknowledged(scene, *ids) == 2
    assert await acknowledged(scene, *ids) == 0


async def test_waiting_ends_with_the_first_event(scene: RpcScene) -> None:
    """A waiting request returns with the first event, so a consumer need not poll."""
    assert (await taken(scene))["events"] == []
    waiting = scene.request("GET", f"{CDR}&wait=20")
    _, (_, batch) = await scene.start_call(), await waiting
    assert batch["events"][0]["event"]["event"] == "initiated"


async def test_how_groups_stand_and_how_they_are_forgotten(scene: RpcScene) -> None:
    """The list has each group with its lag and pending events; a deleted group is gone."""
    await taken(scene)
    await scene.start_call()
    await scene.start_call()
    batch = await taken(scene, "&wait=5&limit=1")
    assert len(batch["events"]) in {1, 2}  # at most one per shard
    _, found = await scene.request("GET", "/events/groups")
    (group,) = found["groups"]
    assert group["group"] == "cdr"
    assert group["lag"] + group["pending"] == 2
    assert await scene.request("DELETE", "/events/groups/cdr") == (200, {})
    assert await scene.request("GET", "/events/groups") == (200, {"groups": []})
    assert await scene.problem("DELETE", "/events/groups/cdr") == (404, "not_found")


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("?group=cdr", "consumer"),
        ("?group=&consumer=a", "group"),
        ("?group=cdr&consumer=a%20b", "consumer"),
        ("?group=cdr&consumer=a&wait=31", "wait"),
        ("?group=cdr&consumer=a&wait=soon", "wait"),
        ("?group=cdr&consumer=a&limit=0", "limit"),
        ("?group=cdr&consumer=a&limit=1001", "limit"),
        ("?group=cdr&consumer=a&idle=0", "idle"),
        ("?group=cdr&consumer=a&from=1", "from"),
    ],
)
async def test_a_bad_question_names_its_field(scene: RpcScene, query: str, path: str) -> None:
    """The error names the invalid parameter."""
    status, problem = await scene.request("GET", f"/events{query}")
    assert (status, problem["code"]) == (400, "invalid")
    assert problem["errors"][0]["path"] == path


@pytest.mark.parametrize(
    "bad", ["x", "3-1-1", "pbx1/2.1-1", "pbx1/0.1", "pbx1/0.gap.1-1", "pbx1/0.1-1\n"]
)
async def test_a_bad_id_is_refused(scene: RpcScene, bad: str) -> None:
    """The error has the index of the invalid id; none of the others is acknowledged."""
    status, problem = await scene.request(
        "POST", "/events/ack", {"group": "cdr", "ids": ["pbx1/0.1-1", bad]}
    )
    assert (status, problem["code"]) == (400, "invalid")
    assert problem["errors"][0]["path"] == "ids[1]"


async def test_without_the_store_a_group_is_shown_so(scene: RpcScene) -> None:
    """While the store is down a read gets 503."""
    scene.store.down = True
    assert await scene.problem("GET", CDR) == (503, "store_down")


@pytest.fixture
async def short(tmp_path: Path) -> AsyncIterator[RpcScene]:
    """Provide a scene whose streams are short."""
    async with AsyncExitStack() as stack:
        scene = RpcScene(UnreliableStore(stream_limits=StreamLimits(10, 20)))
        await scene.open(stack, tmp_path)
        yield scene


def overrun(scene: RpcScene) -> None:
    """Publish far more events in each shard than a stream keeps."""
    for slot in range(2):
        scene.store.stream.append(at(slot), [NEWER] * 300)


async def test_a_group_is_shown_what_it_has_lost(short: RpcScene) -> None:
    """A group has a number of lost events until it acknowledges the loss."""
    await taken(short)
    overrun(short)
    lost = (await short.store.stream.read_group(Consumer("cdr", "api1"), [at(0), at(1)], 0, 2)).gaps
    status, answer = await short.request("POST", "/events/ack", {"group": "cdr", "ids": []})
    assert (status, answer) == (200, {"acknowledged": 0})
    _, found = await short.request("GET", "/events/groups")
    assert found["groups"][0]["lost"] == sum(gap.max_lost for gap in lost) > 0
    ids = [f"{gap.shard}.lost.{gap.end}" for gap in lost]
    assert await acknowledged(short, *ids) == 2


async def test_a_listener_who_was_away_for_too_long_is_shown(short: RpcScene) -> None:
    """A resumed stream begins with the lost events of each shard."""
    await short.start_call()
    async with listening(short) as stream:
        await short.start_call()
        await short.start_call()
        place, _ = await stream.next()
    overrun(short)
    headers = {"Last-Event-ID": place, "Authorization": f"Bearer {TOKEN}"}
    async with short.session.get(f"{short.url}/rpc/v1/events", headers=headers) as got:
        assert await got.content.readline() == b"event: lost\n"
        data = await got.content.readline()
    lost = json.loads(data.removeprefix(b"data: "))
    assert {each["shard"] for each in lost} <= {"pbx1/0", "pbx1/1"}
    assert all(each["first"] < each["end"] for each in lost)


async def test_the_schema_is_published(scene: RpcScene) -> None:
    """The published schema describes the delivered events."""
    status, schema = await scene.request("GET", "/events/schema")
    assert (status, schema) == (200, json.loads(json.dumps(event_schema())))
    assert schema["$defs"]["CallEvent"]["properties"].keys() == {
        field.encode_name for field in msgspec.structs.fields(CallEvent)
    }
