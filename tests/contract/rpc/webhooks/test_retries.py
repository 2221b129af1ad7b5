"""Requests of the webhook log are sent again: the same, and without effect on calls."""

from typing import Any

import msgspec
import pytest
from aiohttp import web

from engine.callbacks.transport import SignedEvent, sign
from tests.contract.rpc.webhooks.scene import CALL, EVENT, REQUEST_ID, SECRET, WebhookScene
from tests.harness.signing import fixed_signer
from tests.harness.store.documents import put_request
from wire.callbacks.targets import HttpsTarget


async def test_a_retry_is_the_same_request(webhook_scene: WebhookScene) -> None:
    """It has the same body and idempotency key, a new signature, and an attempt of its own."""
    await webhook_scene.ask(body=b'{"event":"start"}')
    (attempt,) = await webhook_scene.list()
    repeated = await webhook_scene.retry(attempt["id"])
    (first, body), (second, again) = webhook_scene.server.requests
    assert body == again
    for name in ("Idempotency-Key", "webhook-id", "Content-Type"):
        assert first[name] == second[name]
    assert second["webhook-signature"].startswith("v1,")
    assert (repeated["retryOf"], repeated["attempt"]) == (attempt["id"], 2)
    assert repeated["requestId"] == attempt["requestId"]
    assert repeated["id"] == (await webhook_scene.list())[0]["id"]
    assert (await webhook_scene.retry(repeated["id"]))["retryOf"] == repeated["id"]


async def test_a_retry_that_fails(webhook_scene: WebhookScene) -> None:
    """Its outcome is in the response and in the log; it is sent once."""
    await webhook_scene.ask()
    (attempt,) = await webhook_scene.list()
    webhook_scene.server.answers = [web.Response(status=503)]
    repeated = await webhook_scene.retry(attempt["id"])
    assert (repeated["outcome"], repeated["reason"]) == ("failed", "status_503")
    assert len(webhook_scene.server.requests) == 2


async def test_callbacks(webhook_scene: WebhookScene) -> None:
    """A callback is logged with its event and what the target answers; a retry is the event."""
    webhook_scene.server.answers = [
        web.Response(status=500, text="a bug"),
        web.Response(text="thanks"),
    ]
    target = HttpsTarget(webhook_scene.url)
    event = SignedEvent("acme", f"{CALL}.e1", EVENT, attempt=3)
    event = sign(event, target, await fixed_signer()("acme"), 1.0)
    await webhook_scene.callbacks.deliver(target, event)
    await webhook_scene.scene.attempts.flush()
    (attempt,) = await webhook_scene.list(kind="callback")
    assert (attempt["attempt"], attempt["reason"], attempt["callId"]) == (3, "status_500", CALL)
    assert (await webhook_scene.show(attempt["id"]))["responseBody"]["text"] == "a bug"
    repeated = await webhook_scene.retry(attempt["id"])
    assert (repeated["outcome"], repeated["responseBody"]["text"]) == ("succeeded", "thanks")
    (first, body), (second, again) = webhook_scene.server.requests
    assert body == again == EVENT
    assert first["webhook-id"] == second["webhook-id"]
    assert first["webhook-timestamp"] != second["webhook-timestamp"]


async def store_request(webhook_scene: WebhookScene, **more: Any) -> None:
    """Store an API request with secrets in all of its parts."""
    document = {
        "url": webhook_scene.url + "?key={{secrets.token}}&from={{call.from}}",
        "method": "POST",
        "headers": {"X-App": "{{secrets.token}}", "Authorization": "Bearer {{secrets.token}}"},
        "json": {"token": "{{secrets.token}}", "from": "{{call.from}}"},
        "secrets": {"token": SECRET},
    }
    await put_request(
        webhook_scene.scene.store, "acme", REQUEST_ID, msgspec.json.encode(document | more)
    )


async def send_request(webhook_scene: WebhookScene, caller: str = "+4799999999") -> dict[str, Any]:
    """Send the API request, and return its attempt in full."""
    await webhook_scene.requests.ask("acme", REQUEST_ID, lambda _name: caller, f"{CALL}.r7")
    await webhook_scene.scene.attempts.flush()
    return await webhook_scene.show((await webhook_scene.list())[0]["id"])


async def test_secrets_of_an_api_request(webhook_scene: WebhookScene) -> None:
    """The log has their templates, and a retry fills in the present secrets."""
    await store_request(webhook_scene)
    view = await send_request(webhook_scene)
    assert "a-secret" not in msgspec.json.encode(view).decode()
    assert view["requestBody"]["text"] == '{"token":"{{secrets.token}}","from":"+4799999999"}'
    assert view["requestHeaders"]["X-App"] == "{{secrets.token}}"
    assert view["requestHeaders"]["Authorization"] == "***"
    assert (await webhook_scene.retry(view["id"]))["outcome"] == "succeeded"
    (first, body), (second, again) = webhook_scene.server.requests
    assert body == again
    assert first["Authorization"] == second["Authorization"] == f"Bearer {SECRET}"
    assert first["X-App"] == second["X-App"] == SECRET
    assert first["Idempotency-Key"] == second["Idempotency-Key"]
    again_view = await webhook_scene.show((await webhook_scene.list())[0]["id"])
    assert "a-secret" not in msgspec.json.encode(again_view).decode()


async def test_a_server_that_repeats_secrets(webhook_scene: WebhookScene) -> None:
    """The log has none of them in a response, and no authorization, also after a retry."""

    async def repeats(request: web.Request) -> web.Response:
        headers, body = dict(request.headers), await request.text()
        return web.json_response({"url": str(request.url), "headers": headers, "body": body})

    webhook_scene.server.answers = [repeats]
    await store_request(webhook_scene)
    view = await send_request(webhook_scene)
    await webhook_scene.retry(view["id"])
    for each in await webhook_scene.list():
        response = (await webhook_scene.show(each["id"]))["responseBody"]["text"]
        assert f"{CALL}.r7" in response
        assert "a-secret" not in response
        assert "v1," not in response


async def test_text_that_looks_like_a_secret(webhook_scene: WebhookScene) -> None:
    """A caller cannot get a secret by its name: such a request is not repeated."""
    await store_request(webhook_scene)
    view = await send_request(webhook_scene, "{{secrets.token}}")
    problem = await webhook_scene.scene.problem("POST", f"/webhooks/acme/{view['id']}/retry")
    assert problem == (409, "not_repeatable")


@pytest.mark.parametrize("change", ["removed", "without_secret", "other_header", "other_port"])
async def test_an_api_request_that_changed(webhook_scene: WebhookScene, change: str) -> None:
    """What the log does not have comes from the API request; without it nothing is sent."""
    header = {"Authorization": "{{call.from}}"} if change == "other_header" else None
    await store_request(webhook_scene, **({"headers": header} if header else {}))
    view = await send_request(webhook_scene)
    if change == "removed":
        await put_request(webhook_scene.scene.store, "acme", REQUEST_ID, None)
    elif change == "other_port":  # the log's address may be that of somebody who had changed it
        await store_request(webhook_scene, url="http://127.0.0.1:9/")
    elif change == "without_secret":
        await store_request(webhook_scene, secrets={})
    problem = await webhook_scene.scene.problem("POST", f"/webhooks/acme/{view['id']}/retry")
    assert problem == (409, "not_repeatable")
    assert len(webhook_scene.server.requests) == 1


async def test_a_long_body(webhook_scene: WebhookScene) -> None:
    """The log has its beginning, and does not repeat it."""
    await webhook_scene.ask(body=b'{"x":"%b"}' % (b"x" * 9_000))
    (attempt,) = await webhook_scene.list()
    view = await webhook_scene.show(attempt["id"])
    assert view["requestBody"]["truncated"]
    assert len(view["requestBody"]["text"]) == 8_192
    problem = await webhook_scene.scene.problem("POST", f"/webhooks/acme/{attempt['id']}/retry")
    assert problem == (409, "not_repeatable")
