"""Status callbacks over real gRPC: message, signature and failing servers."""

import asyncio
import time

import grpc
import msgspec
import pytest
from grpc import aio

from engine.store.store import Store
from engine.webhooks.log.logged_attempt import logged
from tests.harness.callbacks.scene import CallbackScene, open_scene
from tests.harness.customers.grpc_server import GrpcCallbackServer
from tests.harness.customers.signatures import verified
from tests.harness.ports import free_port
from tests.harness.servers.certificate import certificate
from tests.harness.shards import SHARD
from tests.harness.until import until
from wire.generated.callback_pb2 import Ack

CALL, OTHER = "3-pbx1-aaaaaaaa", "3-pbx1-bbbbbbbb"
HOUR_S = 3_600


async def test_a_signed_message(store: Store) -> None:
    """Its fields equal the JSON's; the reference library verifies the JSON with the metadata."""
    async with GrpcCallbackServer() as customer, open_scene(store) as scene:
        secret = await scene.put_target("grpc://127.0.0.1:1")  # this call names its own target
        await scene.emit(CALL, 0, target=customer.target)
        await scene.until_empty()
    (received,) = customer.callbacks
    url = f"{customer.target}/"
    event = verified(secret, received.event.json.encode(), received.metadata, url)
    assert event == msgspec.json.decode(received.event.json)
    assert received.metadata["webhook-id"] == event["id"] == received.event.id == f"{CALL}.e0"
    assert (received.event.event, received.event.sequence_number) == ("ringing", 0)
    assert getattr(received.event, "from") == event["from"] == "+4721930000"
    assert (received.event.agent_id, received.event.reference_id) == ("sales7", "ref1")
    assert msgspec.json.decode(received.event.custom_data_json) == event["customData"]
    assert received.event.timestamp_ms == event["timestamp"]


async def test_retries_keep_the_order(store: Store) -> None:
    """A rejected event is retried with the same id before later events."""
    refusals = 2

    async def answer(context: aio.ServicerContext) -> None:
        nonlocal refusals
        refusals -= 1
        if refusals >= 0:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "not now")

    async with GrpcCallbackServer() as customer, open_scene(store) as scene:
        customer.answer = answer
        await scene.emit(CALL, 0, 1, 2, target=customer.target)
        await scene.until_empty()
    assert [each.event.sequence_number for each in customer.callbacks] == [0, 0, 0, 1, 2]


async def test_attempts_are_logged(store: Store) -> None:
    """With the target's address, the event as JSON, and the number of each attempt."""
    refusals = 1

    async def answer(context: aio.ServicerContext) -> None:
        nonlocal refusals
        refusals -= 1
        if refusals >= 0:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "not now")

    async with GrpcCallbackServer() as customer, open_scene(store) as scene:
        customer.answer = answer
        await scene.emit(CALL, 0, target=customer.target)
        await scene.until_empty()
        found = [logged(each) for each in scene.log.exchanges]
    assert [(each.number, each.reason) for each in found] == [(1, "grpc_unavailable"), (2, "")]
    assert {(each.kind, each.url) for each in found} == {("callback", customer.target)}
    assert msgspec.json.decode(found[0].body)["callId"] == CALL
    assert abs(found[0].at_ms / 1000 - time.time()) < HOUR_S
    assert found[0].headers["webhook-signature"] == "***"


@pytest.mark.parametrize(
    ("code", "connections"),
    [(grpc.StatusCode.UNAVAILABLE, 2), (grpc.StatusCode.RESOURCE_EXHAUSTED, 1)],
)
async def test_a_retry_finds_the_name_again(
    store: Store, code: grpc.StatusCode, connections: int
) -> None:
    """Over another connection, if the server is unavailable: its name may lead elsewhere by now."""
    peers: list[str] = []

    async def answer(context: aio.ServicerContext) -> None:
        peers.append(context.peer())
        if len(peers) == 1:
            await context.abort(code, "not now")

    async with GrpcCallbackServer() as customer, open_scene(store) as scene:
        customer.answer = answer
        await scene.emit(CALL, 0, 1, target=customer.target)
        await scene.until_empty()
    assert (len(peers), len(set(peers))) == (3, connections)


async def succeed_often(scene: CallbackScene, customer: GrpcCallbackServer) -> None:
    """Deliver events, so that the target gets several at once, even after a failure."""
    await scene.emit("3-pbx1-first000", *range(4), target=customer.target)
    await scene.until_empty()
    customer.callbacks.clear()


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED])
async def test_a_rejected_call_disturbs_no_other(store: Store, code: grpc.StatusCode) -> None:
    """A delivery for another call over the same connection still succeeds."""
    retried = asyncio.Event()

    async def answer(context: aio.ServicerContext) -> None:
        calls = [each.event.call_id for each in customer.callbacks]
        if calls[-1] == CALL:
            await retried.wait()
        elif calls.count(OTHER) == 1:
            await context.abort(code, "not now")
        else:
            retried.set()

    async with GrpcCallbackServer() as customer, open_scene(store) as scene:
        await succeed_often(scene, customer)
        customer.answer = answer
        await scene.emit(CALL, 0, 1, target=customer.target)
        await until(lambda: bool(customer.callbacks), what="the first call's event")
        await scene.emit(OTHER, 0, target=customer.target)
        await scene.until_empty()
    ids = [each.event.id for each in customer.callbacks]
    assert sorted(ids) == [f"{CALL}.e0", f"{CALL}.e1", f"{OTHER}.e0", f"{OTHER}.e0"]


async def test_two_calls_lose_one_connection(store: Store) -> None:
    """Both fail as the server says, and both are retried: the second finds the channel closed."""
    both_failed = asyncio.Event()

    async def answer(context: aio.ServicerContext) -> None:
        if len(customer.callbacks) == 2:
            both_failed.set()
        await both_failed.wait()
        if len(customer.callbacks) == 2:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "not now")

    async with GrpcCallbackServer() as customer, open_scene(store) as scene:
        await succeed_often(scene, customer)
        customer.answer = answer
        await scene.emit(CALL, 0, target=customer.target)
        await scene.emit(OTHER, 0, target=customer.target)
        await scene.until_empty()
    assert dict(scene.metrics.callbacks.failed) == {("grpc", "grpc_unavailable"): 2}
    assert len(customer.callbacks) == 4


async def test_pushback(store: Store) -> None:
    """The delay that a server requests by gRPC pushback is respected."""
    times: list[float] = []

    async def answer(context: aio.ServicerContext) -> None:
        times.append(asyncio.get_running_loop().time())
        if len(times) == 1:
            context.set_trailing_metadata((("grpc-retry-pushback-ms", "1000"),))
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too much")

    async with GrpcCallbackServer() as customer, open_scene(store) as scene:
        customer.answer = answer
        await scene.emit(CALL, 0, target=customer.target)
        await scene.until_empty()
    assert times[1] - times[0] >= 1


async def test_gone(store: Store) -> None:
    """An Ack with `gone` gives up the call's events, like HTTP 410."""

    async def answer(_context: aio.ServicerContext) -> Ack:
        return Ack(gone=True)

    async with GrpcCallbackServer() as customer, open_scene(store) as scene:
        customer.answer = answer
        await scene.emit(CALL, 0, 1, target=customer.target)
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
    assert [(each.seq, each.reason) for each in dead_letters] == [(0, "gone"), (1, "gone")]
    assert len(customer.callbacks) == 1


async def test_a_server_that_hangs(store: Store) -> None:
    """Its attempts end with a timeout."""

    async def answer(_context: aio.ServicerContext) -> None:
        await asyncio.Event().wait()

    async with GrpcCallbackServer() as customer, open_scene(store, response_timeout_s=0.2) as scene:
        customer.answer = answer
        await scene.emit(CALL, 0, target=customer.target)
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
    assert [(each.reason, each.tries) for each in dead_letters] == [("timeout", 3)]


async def test_a_closed_port(store: Store) -> None:
    """A refused connection is a failure like any other."""
    async with open_scene(store) as scene:
        await scene.emit(CALL, 0, target=f"grpc://127.0.0.1:{free_port()}")
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
    assert [each.reason for each in dead_letters] == ["grpc_unavailable"]


async def test_a_private_address(store: Store) -> None:
    """It is refused before a connection is opened."""
    async with GrpcCallbackServer() as customer, open_scene(store, allow=()) as scene:
        await scene.emit(CALL, 0, target=customer.target)
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
    assert [each.reason for each in dead_letters] == ["refused_address"]
    assert customer.callbacks == []


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_tls(store: Store, is_trusted: bool) -> None:
    """grpcs:// verifies the server's certificate; an untrusted server gets nothing."""
    key, signed = certificate()
    credentials = grpc.ssl_server_credentials([(key, signed)])
    roots = signed if is_trusted else None
    async with GrpcCallbackServer(credentials) as customer, open_scene(store, roots=roots) as scene:
        await scene.emit(CALL, 0, target=customer.target)
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
    assert len(customer.callbacks) == int(is_trusted)
    assert [each.reason for each in dead_letters] == ([] if is_trusted else ["grpc_unavailable"])
