"""Connections to a customer's HTTP server, and targets that are set late."""

import asyncio

import pytest
from aiohttp import web

from engine.store.store import Store
from tests.harness.callbacks.scene import open_scene
from tests.harness.customers.callback_server import Answer, CallbackServer, answer_endlessly
from tests.harness.shards import SHARD

TURNS = 200  # of the loop, which client and server share
CALL, OTHER = "3-pbx1-aaaaaaaa", "3-pbx1-bbbbbbbb"


async def answer_briefly(_request: web.Request) -> web.StreamResponse:
    """Answer 200 with a short body."""
    return web.Response(text="thank you")


async def answer_in_parts(request: web.Request) -> web.StreamResponse:
    """Answer 200, and send the body when the head has arrived."""
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(TURNS):
        await asyncio.sleep(0)  # a turn of the loop, not a time
    await response.write_eof(b"thank you")
    return response


@pytest.mark.parametrize(
    ("answer", "connections"), [(answer_briefly, 1), (answer_in_parts, 1), (answer_endlessly, 3)]
)
async def test_a_connection_is_reused(store: Store, answer: Answer, connections: int) -> None:
    """The next event is sent over it, unless the last response is not at its end."""
    ports = set[int]()

    async def serve(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        ports.add(request.transport.get_extra_info("peername")[1])
        return await answer(request)

    async with CallbackServer() as customer, open_scene(store) as scene:
        await scene.put_target(customer.url("/"))
        customer.answers["/"] = serve
        await scene.emit(CALL, 0, 1, 2)
        await scene.until_empty()
    assert len(ports) == connections


async def test_a_target_that_is_set_late(store: Store) -> None:
    """Events of a call that has no target are given up; those of the next call arrive."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        await scene.emit(CALL, 0)
        await scene.until_empty()
        await scene.put_target(customer.url("/"))
        await scene.emit(OTHER, 0)
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
    assert [(each.call_id, each.reason) for each in dead_letters] == [(CALL, "no_target")]
    assert customer.ids() == [f"{OTHER}.e0"]


async def test_a_server_that_never_responds(store: Store) -> None:
    """Its attempts end with a timeout, although it accepts them."""
    never = asyncio.Event()

    async def wait(_request: web.Request) -> web.StreamResponse:
        await never.wait()
        raise AssertionError

    async with CallbackServer() as customer, open_scene(store, response_timeout_s=0.2) as scene:
        await scene.put_target(customer.url("/"))
        customer.answers["/"] = wait
        await scene.emit(CALL, 0)
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
    assert [(each.reason, each.tries) for each in dead_letters] == [("timeout", 3)]
