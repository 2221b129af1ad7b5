"""Accounts' API requests: read from the store, sent in calls and to tell events."""

import json
import time

import pytest
from aiohttp import web
from msgspec.json import encode

from engine.runtime.apis import ApiBook
from engine.store.errors import StoreDown
from engine.store.memory import Memory
from engine.webhooks.addresses import guarded_session
from engine.webhooks.api import ApiSender
from engine.webhooks.failure import WebhookFailed
from tests.sim.graphs import API
from tests.unit.webhooks.asking import LOOPBACK, Server
from wire.request import ApiRequest


class Down(Memory):
    """A store that is away."""

    async def request(self, account: str, request_id: str) -> bytes | None:
        """Fail."""
        raise StoreDown(f"{account} {request_id}")


async def test_an_event_is_told() -> None:
    """Its fields are `{{event.…}}`, and what is answered does not matter."""
    server, store = Server(web.Response(body=b"thanks")), Memory()
    async with server.open() as url, guarded_session(LOOPBACK) as session:
        body = {"call": "{{event.callId}}", "n": "{{event.record.n}}", "x": "{{vars.x}}"}
        request = ApiRequest(url, "POST", json=body, answers={"a": "/a"})
        await store.put_request("acme", API, encode(request))
        book = ApiBook(store, ApiSender(session, time.time, lambda: 0.5))
        await book.deliver("acme", API, {"callId": "c1", "record": {"n": 3}}, "c1.e7")
    [(headers, sent)] = server.asked
    assert json.loads(sent) == {"call": "c1", "n": 3, "x": None}
    assert headers["Idempotency-Key"] == "c1.e7"


@pytest.mark.parametrize(
    ("store", "account", "reason"),
    [(Memory(), "acme", "no_request"), (Down(), "acme", "store_down")],
    ids=["none", "down"],
)
async def test_requests_that_cannot_be_read(store: Memory, account: str, reason: str) -> None:
    """A request that is not there, or another account's, and a store that is away have names."""
    await store.put_request("other", API, encode(ApiRequest("https://a.example/")))
    async with guarded_session() as session:
        book = ApiBook(store, ApiSender(session, time.time, lambda: 0.5))
        with pytest.raises(WebhookFailed) as failed:
            await book.ask(account, API, lambda _name: None, "k")
    assert failed.value.reason == reason
