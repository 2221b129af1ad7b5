"""The event stream over the RPC: follow, resume, end."""

import socket
from pathlib import Path

import pytest

from tests.harness.rpc.event_readers import listening
from tests.harness.rpc.scene import RpcScene, end, running


async def test_events_are_followed(scene: RpcScene) -> None:
    """New events arrive in order, each with an id; `callId` and `account` filter them."""
    old = await scene.start_call()
    async with listening(scene) as all_, listening(scene, "?account=other") as other:
        new = await scene.start_call(account="other")
        for stream in (all_, other):
            _, event = await stream.next()
            assert (event["callId"], event["event"]) == (new, "initiated")
        end(scene, old)
        async with listening(scene, f"?callId={new}") as one:
            end(scene, new)
            _, event = await one.next()
            assert (event["callId"], event["event"]) == (new, "completed")
        ended = {(await all_.next())[1]["callId"] for _ in range(2)}
        assert ended == {old, new}  # in order within a slot
        assert (await other.next())[1]["event"] == "completed"


async def test_a_filter_that_is_none(scene: RpcScene) -> None:
    """An unknown filter is an error, not an unfiltered stream."""
    assert await scene.problem("GET", "/events?calId=x") == (400, "invalid")


async def test_the_stream_is_taken_up_again(scene: RpcScene) -> None:
    """With Last-Event-ID no event is lost or repeated."""
    async with listening(scene) as stream:
        calls = [await scene.start_call() for _ in range(6)]
        seen = [await stream.next() for _ in range(2)]
    async with listening(scene, last=seen[-1][0]) as stream:
        rest = [await stream.next() for _ in range(4)]
    result = [event["callId"] for _, event in [*seen, *rest]]
    assert sorted(result) == sorted(calls)


@pytest.mark.parametrize(
    "last",
    [
        "x",
        "5-0",
        "[]",
        '{"0": 5}',
        '{"0": "x"}',
        '{"99": "0-0"}',
        '{"-1": "0-0"}',
        '{"0": "$"}',
        '{"0": "18446744073709551616-0"}',
    ],
)
async def test_a_place_that_is_none(scene: RpcScene, last: str) -> None:
    """An id that this stream never gave gets 400 before the stream begins."""
    refused = await scene.problem("GET", "/events", headers={"Last-Event-ID": last})
    assert refused == (400, "invalid")


async def test_a_stream_ends_with_the_store(scene: RpcScene) -> None:
    """Without the store the stream ends, and the client reconnects."""
    async with listening(scene) as stream:
        scene.store.down = True
        await stream.ended()
    scene.store.down = False
    async with listening(scene) as stream:
        await scene.start_call()
        assert (await stream.next())[1]["event"] == "initiated"


async def test_the_server_lets_go_of_its_port(tmp_path: Path) -> None:
    """Open streams end with the server, so its port is free again."""
    async with running(tmp_path) as scene:
        port = scene.port
        stream = listening(scene)
        await stream.__aenter__()
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))
