"""Audits of calls over the RPC: any engine replays what the store has."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from engine.calls.model.storage_format import decode_log_entry, encode
from engine.rpc.views.timelines import MAX_ACCOUNT_TIMELINES
from engine.store.change import Change
from engine.store.compressed_call import DICTIONARY, MARK
from engine.store.stream import StreamLimits
from tests.harness.calls.builders import ID
from tests.harness.calls.control import BOB
from tests.harness.rpc.conversation import talking as really_talking
from tests.harness.rpc.preparation import stored, talked
from tests.harness.rpc.scene import TOKEN, RpcScene, end
from tests.harness.shards import at
from tests.harness.store.stores import claim_shard
from tests.harness.store.unreliable_memory import UnreliableStore
from tests.harness.until import until
from wire.shard import ShardId


async def audit(scene: RpcScene, call_id: str, query: str = "") -> dict[str, Any]:
    """Audit a call; return the result."""
    status, found = await scene.request("GET", f"/calls/{call_id}/replay{query}")
    assert status == 200, found
    return dict(found)


async def read_ended(scene: RpcScene) -> list[bytes]:
    """Read the repeated events of ended calls, however old."""
    url = f"{scene.url}/rpc/v1/events/ended?shard=pbx1/0&first=0-0&end=99999999999999-0"
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with scene.session.get(url, headers=headers) as got:
        assert got.status == 200
        return (await got.read()).splitlines()


async def test_a_live_call_replays_the_same(scene: RpcScene) -> None:
    """Events that a live call has yet to publish are not reported as missing."""
    conversation = await really_talking(scene)
    await conversation.posted("hold", channelId=conversation.customer)
    found = await audit(scene, conversation.call)
    assert (found["isSame"], found["isLive"]) == (True, True)
    assert found["compared"] == found["lines"] - 1 > 3
    assert found["events"] > 2
    assert "trimmed" not in found


async def test_a_call_that_has_ended_replays_the_same(scene: RpcScene) -> None:
    """All its events are compared; it is listed among the latest ended calls."""
    calls = [await scene.start_call(account=account) for account in ("acme", "other")]
    for call in calls:
        end(scene, call)

    async def listed() -> bool:
        _, found = await scene.request("GET", "/calls/ended")
        return sorted(found["callIds"]) == sorted(calls)

    await until(listed, what="both ends")
    for call in calls:
        found = await audit(scene, call)
        assert (found["isSame"], found["events"]) == (True, 2)
        assert "isLive" not in found
    assert await scene.request("GET", "/calls/ended?account=other") == (200, {"callIds": calls[1:]})
    _, one = await scene.request("GET", "/calls/ended?limit=1")
    assert len(one["callIds"]) == 1


async def test_a_compressed_call_is_read_as_before(scene: RpcScene) -> None:
    """Its audit, its timeline and its repeated events are the same; its number is found."""
    change = talked().change()
    await stored(scene, change)
    reads = (f"/calls/{ID}/replay", f"/calls/{ID}/timeline", f"/calls/{ID}")
    before = [await scene.request("GET", each) for each in reads]
    repeated = await read_ended(scene)
    token = await claim_shard(scene.store, at(0), "test")
    assert await scene.store.compress_ended({at(0): token}, -1, 10, DICTIONARY) == 1
    assert [await scene.request("GET", each) for each in reads] == before
    assert await read_ended(scene) == repeated != []
    person = {"account": "acme", "number": BOB, "region": "NO", "shard": "pbx1/0"}
    status, erased = await scene.request("POST", "/erasures", person)
    assert (status, erased["endedCalls"]) == (200, 1)
    assert await scene.store.read(at(0), ID) is None


async def test_a_call_that_a_later_version_compressed(scene: RpcScene) -> None:
    """It cannot be audited, and does not stop what reads all calls."""
    later = MARK + b"\xff" + b"\0" * 20
    await stored(scene, replace(talked().change(), state=later))
    for each in (f"/calls/{ID}/replay", f"/calls/{ID}/timeline", f"/calls/{ID}"):
        status, _problem = await scene.request("GET", each)
        assert status in {409, 503}, each
    assert await read_ended(scene) == []


async def test_another_decision_is_shown(scene: RpcScene) -> None:
    """The difference has the line, its event, and the commands of the current code."""
    change = talked().change()
    entry = decode_log_entry(change.log[3])
    forged = encode(replace(entry, digest=entry.digest ^ 1))
    await stored(scene, replace(change, log=(*change.log[:3], forged, *change.log[4:])))
    found = await audit(scene, ID)
    assert not found["isSame"]
    (difference,) = found["differences"]
    assert (difference["about"], difference["line"]) == ("commands", 3)
    assert difference["event"]["type"] == "leg-answered"
    assert [each["type"] for each in difference["commands"]] == [
        "start-ringing",
        "emit-event",
        "emit-event",
        "originate",
    ]


async def test_another_record_is_shown(scene: RpcScene) -> None:
    """The difference names the field in which the replayed and the stored call differ."""
    whole = talked()
    other = replace(whole, call=replace(whole.call, status="failed"))
    await stored(scene, other.change())
    found = await audit(scene, ID)
    assert [each["about"] for each in found["differences"]] == ["state"]
    assert found["differences"][0]["detail"].endswith(": status")


async def test_a_missing_event_is_reported(scene: RpcScene) -> None:
    """An event that is missing after an existing one is a difference."""
    change = talked().change()
    await stored(scene, replace(change, events=(change.events[0], *change.events[2:])))
    found = await audit(scene, ID)
    (difference,) = found["differences"]
    assert (difference["about"], difference["line"]) == ("events", 3)


async def test_a_gap_in_the_log_is_reported(scene: RpcScene) -> None:
    """The lines before the gap are replayed, and the gap is reported."""
    change = talked().change()
    await stored(scene, replace(change, log=(*change.log[:4], b"", *change.log[5:])))
    found = await audit(scene, ID)
    assert (found["isSame"], found["gap"], found["compared"]) == (True, 4, 3)


async def test_a_log_that_the_core_breaks_on(scene: RpcScene) -> None:
    """A line that this version can't read is a difference, not an error."""
    change = talked().change()
    await stored(scene, replace(change, log=(*change.log[:4], b"\xc1", *change.log[5:])))
    found = await audit(scene, ID)
    assert not found["isSame"]
    detail = found["differences"][0]["detail"]
    assert detail == "the core fails on the next line; see the engine's log"


@pytest.mark.parametrize("line", [b"", b"\xc1"])
async def test_the_record_of_a_call_that_cannot_be_replayed(scene: RpcScene, line: bytes) -> None:
    """It is made from the state, when a line is lost, or this version cannot read it."""
    change = talked().change()
    *_, last = change.events
    await stored(scene, replace(change, log=(*change.log[:4], line, *change.log[5:])))
    found = await read_ended(scene)
    assert msgspec.json.decode(found[-1]) == msgspec.json.decode(last)
    assert len(found) < len(change.events)


async def test_a_call_that_can_not_be_read_is_refused(scene: RpcScene) -> None:
    """A call that a newer version has stored gets 409."""
    await stored(scene, Change(ID, "pbx1", b"\xc1", 0, (b"line",), live=False))
    status, problem = await scene.request("GET", f"/calls/{ID}/replay")
    assert (status, problem["code"]) == (409, "conflict")
    assert problem["detail"] == "this version can't read how the call is stored"


async def test_events_that_are_gone_from_the_stream_are_counted(tmp_path: Path) -> None:
    """Trimmed events are counted, and are no difference: the stream is shorter than the log."""
    async with AsyncExitStack() as stack:
        scene = RpcScene(UnreliableStore(stream_limits=StreamLimits(1, 1)))
        await scene.open(stack, tmp_path)
        change = talked().change()
        await stored(scene, change)
        scene.store.stream.append(at(0), [b'{"event":"sung","callId":"another"}'] * 200)
        found = await audit(scene, ID)
    assert (found["isSame"], found["trimmed"]) == (True, len(change.events))


@pytest.mark.parametrize("call", ["9-pbx1-abcdefgh", "0-pbx1-unknown00", "x", "0-pbx1-x%20y"])
async def test_no_such_call(scene: RpcScene, call: str) -> None:
    """An unknown shard, an unknown call and an invalid id get 404."""
    assert await scene.problem("GET", f"/calls/{call}/replay") == (404, "not_found")


async def test_another_accounts_call_is_not_found(scene: RpcScene) -> None:
    """A call of another account gets 404."""
    call = await scene.start_call()
    assert (await audit(scene, call, "?account=acme"))["isSame"]
    assert await scene.problem("GET", f"/calls/{call}/replay?account=evil") == (404, "not_found")


@pytest.mark.parametrize("limit", ["0", "-1", "x", "10001", "1.5", "²"])
async def test_a_bad_limit_is_refused(scene: RpcScene, limit: str) -> None:
    """The error names the parameter."""
    status, problem = await scene.request("GET", f"/calls/ended?limit={limit}")
    assert (status, problem["errors"][0]["path"]) == (400, "limit")


class HangingStore(UnreliableStore):
    """A store whose logs are read when the test lets them."""

    def __init__(self) -> None:
        super().__init__()
        self.may_read = asyncio.Event()

    async def log(
        self, shard: ShardId, call_id: str, first: int = 0, limit: int | None = None
    ) -> list[bytes]:
        """Wait, and read a log."""
        await self.may_read.wait()
        return await super().log(shard, call_id, first, limit)


async def test_replays_wait_with_the_timelines(tmp_path: Path) -> None:
    """Both cost the engine the same, so an account has one limit for them."""
    async with AsyncExitStack() as stack:
        store = HangingStore()
        scene = RpcScene(store)
        await scene.open(stack, tmp_path)
        await stored(scene, talked().change())
        paths = (f"/calls/{ID}/replay", f"/calls/{ID}/timeline")
        asking = [
            asyncio.create_task(scene.request("GET", path))
            for path in paths
            for _ in range(MAX_ACCOUNT_TIMELINES // 2)
        ]

        def is_refused() -> bool:
            asking.append(asyncio.create_task(scene.request("GET", paths[0])))
            return any(each.done() for each in asking)

        await until(is_refused, what="the limit")
        refused = {(each.result()[0], each.result()[1]["code"]) for each in asking if each.done()}
        assert refused == {(429, "too_many_timelines")}
        store.may_read.set()
        answers = await asyncio.gather(*asking)
        assert {status for status, _ in answers[:MAX_ACCOUNT_TIMELINES]} == {200}
