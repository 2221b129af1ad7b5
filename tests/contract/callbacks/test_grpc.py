"""Status callbacks over real gRPC: the message, its signature, and servers that are bad."""

import asyncio

import grpc
import msgspec
import pytest
from grpc import aio

from engine.store.store import Store
from tests.contract.callbacks.bench import SLOT, posting, verified
from tests.harness.customers.grpc_server import GrpcCustomer
from tests.harness.ports import free_port
from tests.harness.servers.certificate import certificate
from tests.harness.until import until
from wire.generated.callback_pb2 import Ack

CALL, OTHER = "3-pbx1-aaaaaaaa", "3-pbx1-bbbbbbbb"


async def test_a_signed_message(store: Store) -> None:
    """Its fields are the JSON's, and the reference library verifies the JSON by the metadata."""
    async with GrpcCustomer() as customer, posting(store) as post:
        secret = await post.target("grpc://127.0.0.1:1")  # this call names its own target
        await post.tell(CALL, 0, target=customer.target)
        await post.emptied()
    (told,) = customer.got
    event = verified(secret, told.event.json.encode(), told.metadata)
    assert event == msgspec.json.decode(told.event.json)
    assert told.metadata["webhook-id"] == event["id"] == told.event.id == f"{CALL}.e0"
    assert (told.event.event, told.event.sequence_number) == ("ringing", 0)
    assert getattr(told.event, "from") == event["from"] == "+4721930000"
    assert (told.event.agent_id, told.event.reference_id) == ("sales7", "ref1")
    assert msgspec.json.decode(told.event.custom_data_json) == event["customData"]
    assert told.event.timestamp_ms == event["timestamp"]


async def test_in_order_and_again(store: Store) -> None:
    """A refusal is tried again with the same id before anything that follows."""
    refusals = 2

    async def answer(context: aio.ServicerContext) -> None:
        nonlocal refusals
        refusals -= 1
        if refusals >= 0:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "not now")

    async with GrpcCustomer() as customer, posting(store) as post:
        customer.answer = answer
        await post.tell(CALL, 0, 1, 2, target=customer.target)
        await post.emptied()
    assert [each.event.sequence_number for each in customer.got] == [0, 0, 0, 1, 2]


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED])
async def test_who_is_refused_takes_nobody_along(store: Store, code: grpc.StatusCode) -> None:
    """What another call is being told over the same connection goes on, and arrives."""
    came_again = asyncio.Event()

    async def answer(context: aio.ServicerContext) -> None:
        calls = [each.event.call_id for each in customer.got]
        if calls[-1] == CALL:
            await came_again.wait()
        elif calls.count(OTHER) == 1:
            await context.abort(code, "not now")
        else:
            came_again.set()

    async with GrpcCustomer() as customer, posting(store) as post:
        customer.answer = answer
        await post.tell(CALL, 0, 1, target=customer.target)
        await until(lambda: bool(customer.got), what="the first call's event")
        await post.tell(OTHER, 0, target=customer.target)
        await post.emptied()
    ids = [each.event.id for each in customer.got]
    assert sorted(ids) == [f"{CALL}.e0", f"{CALL}.e1", f"{OTHER}.e0", f"{OTHER}.e0"]


async def test_pushback(store: Store) -> None:
    """A server that asks for time by gRPC's own means gets it."""
    times: list[float] = []

    async def answer(context: aio.ServicerContext) -> None:
        times.append(asyncio.get_running_loop().time())
        if len(times) == 1:
            context.set_trailing_metadata((("grpc-retry-pushback-ms", "1000"),))
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too much")

    async with GrpcCustomer() as customer, posting(store) as post:
        customer.answer = answer
        await post.tell(CALL, 0, target=customer.target)
        await post.emptied()
    assert times[1] - times[0] >= 1


async def test_gone(store: Store) -> None:
    """An Ack that says so gives up the call's events, as HTTP's 410 does."""

    async def answer(_context: aio.ServicerContext) -> Ack:
        return Ack(gone=True)

    async with GrpcCustomer() as customer, posting(store) as post:
        customer.answer = answer
        await post.tell(CALL, 0, 1, target=customer.target)
        await post.emptied()
        letters = await store.outbox.dead_letters(SLOT, "acme", "", 10)
    assert [(each.seq, each.reason) for each in letters] == [(0, "gone"), (1, "gone")]
    assert len(customer.got) == 1


async def test_a_server_that_hangs(store: Store) -> None:
    """It has so long to answer."""

    async def answer(_context: aio.ServicerContext) -> None:
        await asyncio.Event().wait()

    async with GrpcCustomer() as customer, posting(store, answer_s=0.2) as post:
        customer.answer = answer
        await post.tell(CALL, 0, target=customer.target)
        await post.emptied()
        letters = await store.outbox.dead_letters(SLOT, "acme", "", 10)
    assert [(each.reason, each.tries) for each in letters] == [("timeout", 3)]


async def test_nobody_there(store: Store) -> None:
    """A port that nobody listens on is a failure like any other."""
    async with posting(store) as post:
        await post.tell(CALL, 0, target=f"grpc://127.0.0.1:{free_port()}")
        await post.emptied()
        letters = await store.outbox.dead_letters(SLOT, "acme", "", 10)
    assert [each.reason for each in letters] == ["grpc_unavailable"]


async def test_a_private_address(store: Store) -> None:
    """It is refused before anything is connected."""
    async with GrpcCustomer() as customer, posting(store, allow=()) as post:
        await post.tell(CALL, 0, target=customer.target)
        await post.emptied()
        letters = await store.outbox.dead_letters(SLOT, "acme", "", 10)
    assert [each.reason for each in letters] == ["refused_address"]
    assert customer.got == []


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_tls(store: Store, is_trusted: bool) -> None:
    """grpcs:// verifies the server's certificate; one that nobody vouches for gets nothing."""
    key, signed = certificate()
    credentials = grpc.ssl_server_credentials([(key, signed)])
    roots = signed if is_trusted else None
    async with GrpcCustomer(credentials) as customer, posting(store, roots=roots) as post:
        await post.tell(CALL, 0, target=customer.target)
        await post.emptied()
        letters = await store.outbox.dead_letters(SLOT, "acme", "", 10)
    assert len(customer.got) == int(is_trusted)
    assert [each.reason for each in letters] == ([] if is_trusted else ["grpc_unavailable"])
