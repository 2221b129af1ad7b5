"""API requests of accounts as callbacks: read from the store, and sent."""

import json
import time

from aiohttp import web
from msgspec.json import encode

from base.address_guard import guarded_session
from engine.runtime.io.custom_http_requests import ApiRequestRunner
from engine.webhooks.api_sender import ApiSender
from tests.harness.customers.signatures import verified
from tests.harness.memory_store.store import MemoryStore
from tests.harness.scenarios.graphs import API
from tests.harness.signing import SIGNING_SECRET, fixed_signer
from tests.harness.store.documents import put_request
from tests.harness.webhooks.customer import LOOPBACK, Server
from wire.request import ApiRequest


async def test_a_callback_is_sent() -> None:
    """Event fields are `{{event.…}}`; it is signed, and the response is ignored."""
    server, store = Server(web.Response(body=b"thanks")), MemoryStore()
    async with server.open() as url, guarded_session(LOOPBACK) as session:
        body = {"call": "{{event.callId}}", "n": "{{event.record.n}}", "x": "{{vars.x}}"}
        request = ApiRequest(url, "POST", json=body, answers={"a": "/a"})
        await put_request(store, "acme", API, encode(request))
        runner = ApiRequestRunner(
            store, ApiSender(lambda _: session, time.time, lambda: 0.5), fixed_signer()
        )
        await runner.deliver("acme", API, {"callId": "c1", "record": {"n": 3}}, "c1.e7")
    [(headers, sent)] = server.requests
    assert json.loads(sent) == {"call": "c1", "n": 3, "x": None}
    assert headers["Idempotency-Key"] == "c1.e7"
    assert verified(SIGNING_SECRET, sent, headers, url) == json.loads(sent)


async def test_a_response_has_the_values_of_a_flow() -> None:
    """Those that the request names."""
    server, store = Server(web.json_response({"a": "b", "c": 1})), MemoryStore()
    async with server.open() as url, guarded_session(LOOPBACK) as session:
        request = ApiRequest(url, "POST", json={"name": "{{name}}"}, answers={"first": "/a"})
        await put_request(store, "acme", API, encode(request))
        runner = ApiRequestRunner(
            store, ApiSender(lambda _: session, time.time, lambda: 0.5), fixed_signer()
        )
        response = await runner.ask("acme", API, lambda name: name.upper(), "c1.r1")
    assert (response.status, response.values) == (200, {"first": "b"})
