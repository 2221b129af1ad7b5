"""Status callbacks by an API request: the account's own request is filled in with the event."""

import msgspec

from engine.store.store import Store
from tests.harness.callbacks.scene import open_scene
from tests.harness.customers.callback_server import CallbackServer, answer_with
from tests.harness.rpc.scene import CALL, RpcScene
from tests.harness.scenarios.graphs import API
from tests.harness.shards import SHARD
from tests.harness.store.documents import put_request
from wire.request import ApiRequest

CALL_ID = "3-pbx1-aaaaaaaa"


async def put(store: Store, url: str) -> None:
    """Store a request that reports an event."""
    request = ApiRequest(
        url,
        "POST",
        headers={"X-Key": "{{secrets.key}}"},
        json={"what": "{{event.event}}", "n": "{{event.sequenceNumber}}", "id": "{{event.id}}",
              "order": "{{event.customData.order}}"},
        answers={"unused": "/unused"},
        secrets={"key": "k1"},
    )  # fmt: skip
    await put_request(store, "acme", API, msgspec.json.encode(request))


async def test_an_event_is_delivered_by_a_request(store: Store) -> None:
    """Events arrive in order, with the account's secrets and the event's id as idempotency key."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        await put(store, customer.url("/events"))
        customer.answers["/events"] = answer_with(500, 500, 204)
        await scene.emit(CALL_ID, 0, 1, target=API)
        await scene.until_empty()
    numbers = [each.event["n"] for each in customer.requests]
    assert numbers == sorted(numbers)
    assert set(numbers) == {0, 1}
    first = customer.requests[0]
    assert first.event == {"what": "ringing", "n": 0, "id": f"{CALL_ID}.e0", "order": 4711}
    assert first.headers["x-key"] == "k1"
    keys = [each.headers["idempotency-key"] for each in customer.requests]
    assert keys == [f"{CALL_ID}.e{number}" for number in numbers]


async def test_retry_after(store: Store) -> None:
    """A server may request a longer delay than a request may take."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        await put(store, customer.url("/"))
        customer.answers["/"] = answer_with(429, 429, 204, Retry_After="2")
        await scene.emit(CALL_ID, 0, target=API)
        await scene.until_empty()
    *earlier, last = customer.requests
    assert last.at_s - earlier[-1].at_s >= 2


async def test_a_missing_request(store: Store) -> None:
    """Another account's request is not used; the event becomes a dead letter."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        await put(store, customer.url("/"))
        await scene.emit(CALL_ID, 0, account="other", target=API)
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "other", "", 10)
    assert [each.reason for each in dead_letters] == ["unknown_request"]
    assert customer.requests == []


async def test_410_gives_a_calls_events_up(store: Store) -> None:
    """A server that answers 410 gets no further event of this call."""
    async with CallbackServer() as customer, open_scene(store) as scene:
        await put(store, customer.url("/"))
        customer.answers["/"] = answer_with(410)
        await scene.emit(CALL_ID, 0, 1, target=API)
        await scene.until_empty()
        dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
    assert [each.reason for each in dead_letters] == ["gone", "gone"]
    assert len(customer.requests) == 1


async def test_a_target_must_exist(scene: RpcScene) -> None:
    """A call or an account cannot name a missing request or another account's."""
    body = {**CALL, "statusCallbackUrl": API}
    await scene.documents.request("other", API, {"url": "https://a.example/"})
    assert await scene.problem("POST", "/calls", body) == (400, "unknown_request")
    draft = {"change": "put", "settings": {"target": API}}
    unknown = await scene.problem("POST", "/callbacks/acme/draft", draft)
    assert unknown == (400, "unknown_request")
    await scene.documents.request("acme", API, {"url": "https://a.example/"})
    await scene.documents.callback("acme", {"target": API})
    call = await scene.start_call(statusCallbackUrl=API.upper())
    found = scene.service.find(call)
    assert found is not None
    assert found[1].call.delivery_key == f"acme {API}"
