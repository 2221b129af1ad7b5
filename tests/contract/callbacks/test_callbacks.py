"""Status callbacks over both stores and real HTTP."""

import asyncio
import time

import pytest
from aiohttp import web
from standardwebhooks.webhooks import WebhookVerificationError

from engine.callbacks.delivery_attempt import RetrySchedule
from engine.callbacks.shard_queues import MAX_BUFFERED_EVENTS
from engine.store.callback_queue import CallbackQueueLimits
from engine.store.store import Store
from engine.webhooks.log.logged_attempt import logged
from tests.harness.callbacks.scene import open_scene, secret_of
from tests.harness.customers.callback_server import (
    CallbackServer,
    answer_endlessly,
    answer_with,
    never_answer,
)
from tests.harness.customers.signatures import verified
from tests.harness.shards import SHARD
from tests.harness.until import until

HOUR_S = 3_600


async def test_a_signed_event(store: Store) -> None:
    """A committed event is sent at once; the reference library verifies its signature."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        url = customer.url("/events")
        secret = await scene.put_target(url)
        await scene.emit("3-pbx1-aaaaaaaa", 0)
        await customer.wait_for_requests(1)
        await scene.until_empty()
    got = customer.requests[0]
    assert got.path == "/events"
    assert verified(secret, got.body, got.headers, url) == got.event
    assert got.event["id"] == got.id == "3-pbx1-aaaaaaaa.e0"
    assert got.event["customData"] == {"order": 4711}
    with pytest.raises(WebhookVerificationError):
        verified(secret_of(b"x"), got.body, got.headers, url)
    with pytest.raises(WebhookVerificationError):
        verified(secret, got.body, got.headers, f"{url}/other")
    assert len(customer.requests) == 1


async def test_in_order(store: Store) -> None:
    """The events of a call arrive one by one, even those emitted during a delivery."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        await scene.put_target(customer.url("/"))
        for call in ("3-pbx1-aaaaaaaa", "3-pbx1-bbbbbbbb"):
            await scene.emit(call, 0, 1)
            for number in range(2, 40):
                await scene.emit(call, number)
        await scene.until_empty()
        for call in ("3-pbx1-aaaaaaaa", "3-pbx1-bbbbbbbb"):
            assert customer.ids(call) == [f"{call}.e{number}" for number in range(40)]


async def test_a_retry_has_the_same_id(store: Store) -> None:
    """A failed event is retried with its id and delays only later events of its call."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        await scene.put_target(customer.url("/"))
        customer.answers["/"] = answer_with(500, 503, 204)
        await scene.emit("3-pbx1-aaaaaaaa", 0)
        await scene.emit("3-pbx1-aaaaaaaa", 1)
        await scene.until_empty()
    assert customer.ids() == [f"3-pbx1-aaaaaaaa.e{number}" for number in (0, 0, 0, 1)]
    assert scene.metrics.callbacks.retried.total == 2
    found = [logged(each) for each in scene.log.exchanges]
    assert [each.number for each in found] == [1, 2, 3, 1]
    assert {abs(each.at_ms / 1000 - time.time()) < HOUR_S for each in found} == {True}
    assert dict(scene.metrics.callbacks.delivered) == {("https",): 2}


async def test_dead_letters(store: Store) -> None:
    """An event that is given up is kept, delays no later event, and can be resent."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        await scene.put_target(customer.url("/"))
        customer.answers["/"] = answer_with(500, 500, 500, 204)
        await scene.emit("3-pbx1-aaaaaaaa", 0, 1)
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
        assert [(each.call_id, each.seq, each.reason, each.tries) for each in dead_letters] == [
            ("3-pbx1-aaaaaaaa", 0, "status_500", 3)
        ]
        assert scene.metrics.callbacks.dead_lettered.table()["status_500"] == 1
        assert await store.callback_queue.dead_letters(SHARD, "others", "", 10) == []
        assert await store.callback_queue.resend(SHARD, "others", [dead_letters[0].entry], 10) == 0
        assert await store.callback_queue.resend(SHARD, "acme", [dead_letters[0].entry], 10) == 1
        await customer.wait_for_requests(5)
        await scene.until_empty()
        assert await store.callback_queue.dead_letters(SHARD, "acme", "", 10) == []
    assert customer.ids()[-2:] == ["3-pbx1-aaaaaaaa.e1", "3-pbx1-aaaaaaaa.e0"]


async def test_an_event_that_the_customer_rejects(store: Store) -> None:
    """After three attempts the next event is sent, too; if it arrives, the first is given up."""
    call = "3-pbx1-aaaaaaaa"

    async def reject_the_first(request: web.Request) -> web.StreamResponse:
        is_first = request.headers["webhook-id"] == f"{call}.e0"
        return web.Response(status=500 if is_first else 204)

    schedule = RetrySchedule((0.0, 0.05, 0.1, 3_600.0))
    async with CallbackServer() as customer, open_scene(store, schedule=schedule) as scene:
        await scene.put_target(customer.url("/"))
        customer.answers["/"] = reject_the_first
        await scene.emit(call, 0, 1)
        await customer.wait_for_requests(4)
        await scene.emit(call, 2, kind="completed")
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
    assert customer.ids() == [f"{call}.e{number}" for number in (0, 0, 0, 1, 2)]
    assert scene.metrics.callbacks.dead_lettered.table()["status_500"] == 1
    assert [(each.seq, each.reason, each.tries) for each in dead_letters] == [(0, "status_500", 3)]


async def test_more_events_than_fit_into_memory(store: Store) -> None:
    """The others are read from the store at once, not when they are due."""
    call = "3-pbx1-aaaaaaaa"
    async with CallbackServer() as customer, open_scene(store) as scene:
        await scene.put_target(customer.url("/"))
        await scene.emit(call, *range(MAX_BUFFERED_EVENTS * 2 + 1))
        await scene.until_empty(CallbackQueueLimits().claim_ms / 1000 - 2)
    assert customer.ids() == [f"{call}.e{number}" for number in range(MAX_BUFFERED_EVENTS * 2 + 1)]


async def test_a_handover_waits_for_deliveries_in_flight(store: Store) -> None:
    """The next owner delivers what was not sent yet, and repeats nothing."""
    received, may_answer = asyncio.Event(), asyncio.Event()

    async def answer_late(_request: web.Request) -> web.StreamResponse:
        received.set()
        await may_answer.wait()
        return web.Response(status=204)

    call = "3-pbx1-aaaaaaaa"
    async with CallbackServer() as customer:
        async with open_scene(store) as scene:
            await scene.put_target(customer.url("/"))
            customer.answers["/"] = answer_late
            await scene.emit(call, 0, 1)
            await received.wait()
            waiting = asyncio.create_task(scene.dispatcher.finish_deliveries(SHARD))
            await asyncio.sleep(0)
            await scene.emit(call, 2)
            assert not waiting.done()
            may_answer.set()
            await waiting
            await scene.dispatcher.drain(SHARD)
        async with open_scene(store) as scene:
            await scene.until_empty()
    assert customer.ids() == [f"{call}.e{number}" for number in (0, 1, 2)]


async def test_an_address_with_a_signature(store: Store) -> None:
    """It reaches the server as it is given."""
    requested: list[str] = []

    async def respond(request: web.Request) -> web.StreamResponse:
        requested.append(request.raw_path)
        return web.Response(status=204)

    path = "/?e=a%40b.c&t=a@b:c&sig=%3D"
    async with CallbackServer() as customer, open_scene(store) as scene:
        customer.answers["/"] = respond
        await scene.put_target(customer.url(path))
        await scene.emit("3-pbx1-aaaaaaaa", 0)
        await scene.until_empty()
    assert requested == [path]


async def test_gone(store: Store) -> None:
    """410 stops the account's target; its events become dead letters."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        await scene.put_target(customer.url("/"))
        customer.answers["/"] = answer_with(410)
        await scene.emit("3-pbx1-aaaaaaaa", 0, 1)
        await scene.until_empty()
        await scene.emit("3-pbx1-bbbbbbbb", 0)
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
        assert [each.reason for each in dead_letters] == ["gone", "gone", "stopped"]
        assert await scene.targets.resolve("acme", "auto-set") is None
    assert len(customer.requests) == 1


async def test_retry_after(store: Store) -> None:
    """The delay that a server requests is respected."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        await scene.put_target(customer.url("/"))
        customer.answers["/"] = answer_with(429, 204, Retry_After="1")
        await scene.emit("3-pbx1-aaaaaaaa", 0)
        await scene.until_empty()
    first, second = customer.requests
    assert second.at_s - first.at_s >= 1


async def test_a_redirect_is_not_followed(store: Store) -> None:
    """A redirect counts as a failure."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        await scene.put_target(customer.url("/"))
        customer.answers["/"] = answer_with(307, Location="/elsewhere")
        await scene.emit("3-pbx1-aaaaaaaa", 0)
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
    assert [each.reason for each in dead_letters] == ["redirect"]
    assert {each.path for each in customer.requests} == {"/"}


@pytest.mark.parametrize(
    ("status", "reason"), [(299, None), (300, "redirect"), (399, "redirect"), (400, "status_400")]
)
async def test_classes_of_status_codes(store: Store, status: int, reason: str | None) -> None:
    """Every 2xx delivers the event; every 3xx is a redirect."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        await scene.put_target(customer.url("/"))
        customer.answers["/"] = answer_with(status)
        await scene.emit("3-pbx1-aaaaaaaa", 0)
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
    assert [each.reason for each in dead_letters] == ([reason] if reason else [])


async def test_a_private_address(store: Store) -> None:
    """It is refused when the socket is created."""
    async with CallbackServer() as customer, open_scene(store, allow=()) as scene:
        await scene.put_target(customer.url("/"))
        await scene.emit("3-pbx1-aaaaaaaa", 0)
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
    assert [each.reason for each in dead_letters] == ["refused_address"]
    assert customer.requests == []


async def test_an_endless_response(store: Store) -> None:
    """Only the status of a response counts, however long the body is."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        await scene.put_target(customer.url("/"))
        customer.answers["/"] = answer_endlessly
        await scene.emit("3-pbx1-aaaaaaaa", 0, 1)
        await scene.until_empty()
    assert customer.ids() == ["3-pbx1-aaaaaaaa.e0", "3-pbx1-aaaaaaaa.e1"]


async def test_a_hanging_target_delays_no_other(store: Store) -> None:
    """Another account's events arrive at once, while the hanging target's circuit opens."""
    async with (
        CallbackServer() as customer,
        CallbackServer() as bad,
        open_scene(store, response_timeout_s=2) as scene,
    ):
        await scene.put_target(customer.url("/"), "good")
        await scene.put_target(bad.url("/"), "bad", concurrency=4)
        bad.answers["/"] = never_answer
        for number in range(50):
            await scene.emit(f"3-pbx1-bad{number:05}", 0, account="bad")
        for number in range(50):
            await scene.emit(f"3-pbx1-good{number:05}", 0, account="good")
        await customer.wait_for_requests(50)
        await until(lambda: len(bad.requests) >= 5, what="its circuit to have opened")
        assert customer.requests[-1].at_s < bad.requests[4].at_s  # four time out before it
        bad.answers.clear()
        await scene.until_empty(30)
        assert len(set(bad.ids())) == 50


async def test_rotation(store: Store) -> None:
    """During a rotation both secrets sign."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        url = customer.url("/")
        old = await scene.put_target(url)
        after = await scene.settings.rotate("acme")
        await scene.emit("3-pbx1-aaaaaaaa", 0)
        await customer.wait_for_requests(1)
        await scene.until_empty()
    got = customer.requests[0]
    assert after.secret != old
    for secret in (old, after.secret):
        assert verified(secret, got.body, got.headers, url) == got.event


async def test_no_delivery_without_the_lease(store: Store) -> None:
    """An engine that may have lost the shard sends nothing; the next owner delivers the rest."""
    async with CallbackServer() as customer, open_scene(store) as stale:
        await stale.put_target(customer.url("/"))
        stale.lease.holds = False
        await stale.emit("3-pbx1-aaaaaaaa", 0, 1)
        await stale.dispatcher.drain(SHARD)
        async with open_scene(store) as scene:
            await scene.until_empty()
    assert customer.ids() == ["3-pbx1-aaaaaaaa.e0", "3-pbx1-aaaaaaaa.e1"]
