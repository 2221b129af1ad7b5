"""Ended calls with logs of the largest size over the RPC: each turn of the loop has a part of one.

The parts are counted in lines of the log, whatever the machine.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp.test_utils import make_mocked_request
from msgspec.structs import replace

from engine.calls.model.events import LegEnded
from engine.rpc.handlers.ended_calls import STEPS_PER_TURN
from engine.rpc.handlers.erasure import LINES_PER_TURN, ErasureHandlers
from engine.rpc.views.timelines import MAX_ROWS, PIECE
from engine.store.change import Change
from tests.harness.calls.builders import ID
from tests.harness.calls.long_calls import call_with_marks
from tests.harness.rpc.preparation import stored
from tests.harness.rpc.scene import TOKEN, RpcScene
from tests.harness.shards import at
from tests.harness.store.counted_lines import CountingStore
from wire.erasure import EraseNumber, ErasePrompts, ErasureResult

MARKS = 150_000
OTHERS = 3  # calls in the same page
STRANGER = "+4790000007"  # in no call


@pytest.fixture
async def store() -> CountingStore:
    return CountingStore()


@pytest.fixture
async def scene(tmp_path: Path, store: CountingStore) -> AsyncIterator[RpcScene]:
    """Run an engine's RPC that has a long call."""
    async with AsyncExitStack() as stack:
        made = RpcScene(store)
        await made.open(stack, tmp_path)
        await stored(made, LONG.change())
        yield made


LONG = call_with_marks(MARKS)


async def get(scene: RpcScene, path: str) -> Any:
    status, found = await scene.request("GET", path)
    assert status == 200, found
    return found


async def test_a_long_call_is_replayed(scene: RpcScene, store: CountingStore) -> None:
    """All of it, and with the same result."""
    async with store.meter.running():
        found = await get(scene, f"/calls/{ID}/replay")
    assert (found["isSame"], found["lines"]) == (True, len(LONG.log))
    assert found["compared"] == len(LONG.log) - 1
    assert store.meter.most <= PIECE + 1


async def test_a_timeline_has_the_end_of_a_long_call(scene: RpcScene, store: CountingStore) -> None:
    """Its latest rows, and how many there were before."""
    async with store.meter.running():
        found = await get(scene, f"/calls/{ID}/timeline")
    assert len(found["rows"]) == MAX_ROWS
    assert found["omitted"] > 0
    assert found["rows"][-1]["text"].startswith("call ended: ")
    assert store.meter.most <= PIECE + 1


async def test_the_events_of_a_long_call_are_repeated(
    scene: RpcScene, store: CountingStore
) -> None:
    """The reader gets something in every turn, so that it does not give up."""
    url = f"{scene.url}/rpc/v1/events/ended?shard=pbx1/0&first=0-0&end=99999999999999-0"
    async with (
        store.meter.running(),
        scene.session.get(url, headers={"Authorization": f"Bearer {TOKEN}"}) as got,
    ):
        lines = (await got.read()).split(b"\n")
    events = [msgspec.json.decode(each) for each in lines if each]
    assert [each["event"] for each in events] == [each.event for each in LONG.emitted]
    assert len(lines) - len(events) >= MARKS // STEPS_PER_TURN
    assert store.meter.most <= STEPS_PER_TURN + 1


async def no_prompts(_body: ErasePrompts) -> tuple[int, int]:
    return 0, 0


async def erase(scene: RpcScene, store: CountingStore, number: str) -> list[ErasureResult]:
    """Erase a number in slices that end as soon as they may; return their results."""
    handlers = ErasureHandlers(store, scene.dependencies.shards, no_prompts, slice_s=0.0)
    request, results = EraseNumber("acme", number, shard=str(at(0))), list[ErasureResult]()
    while request.shard == str(at(0)):
        results.append(await handlers.erase(make_mocked_request("POST", "/"), request))
        await asyncio.sleep(0)  # a turn of the loop, not a time
        shard, cursor = results[-1].next_shard, results[-1].next_cursor
        body = msgspec.json.encode(replace(request, shard=shard, cursor=cursor))
        request = msgspec.json.decode(body, type=EraseNumber)  # as it is sent
    return results


def renamed(number: int) -> Change:
    return replace(LONG.change(), call_id=f"{ID}{number}")


async def test_several_long_calls_of_a_page_are_searched_in_slices(
    scene: RpcScene, store: CountingStore
) -> None:
    """Each request has a part of one log, and the next one goes on in it."""
    for number in range(OTHERS):
        await stored(scene, renamed(number))
    async with store.meter.running():
        results = await erase(scene, store, STRANGER)
    of_calls = [each for each in results if each.next_cursor.startswith("calls:0/")]
    assert len(of_calls) > (1 + OTHERS) * MARKS // (2 * LINES_PER_TURN)
    assert len({each.next_cursor for each in of_calls}) == len(of_calls)
    assert sum(each.ended_calls for each in results) == 0
    assert store.meter.most <= LINES_PER_TURN


async def test_a_number_at_the_end_of_a_long_log_is_found(
    scene: RpcScene, store: CountingStore
) -> None:
    """Its call is removed, and no other one; the byte of the cause 50 is the digit 2."""
    change = renamed(1)
    last = msgspec.msgpack.encode([0, LegEnded(STRANGER, 50)])
    await stored(scene, replace(change, log=(*change.log[:-1], last)))
    results = await erase(scene, store, STRANGER)
    assert sum(each.ended_calls for each in results) == 1
    assert await store.read(at(0), change.call_id) is None
    assert await store.read(at(0), ID) is not None
