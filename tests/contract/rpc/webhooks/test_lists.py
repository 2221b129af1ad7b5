"""The webhook log over the RPC: lists, and one attempt in full."""

import msgspec
import pytest
from aiohttp import web

from engine.webhooks.errors import WebhookFailed
from tests.contract.rpc.webhooks.scene import CALL, GATHERED, WebhookScene
from tests.harness.rpc.scene import RpcScene
from tests.harness.webhooks.customer import HANGUP


async def test_an_attempt_in_full(webhook_scene: WebhookScene) -> None:
    """It has what was sent and what came back; the signature is masked, cookies are left out."""
    await webhook_scene.ask(body=b'{"event":"start"}')
    (summary,) = await webhook_scene.list()
    view = await webhook_scene.show(summary["id"])
    assert summary.items() <= view.items()
    assert summary["callId"] == CALL
    assert (summary["kind"], summary["attempt"], summary["outcome"]) == ("action", 1, "succeeded")
    assert (summary["status"], summary["url"]) == (200, webhook_scene.url)
    assert view["requestBody"]["text"] == '{"event":"start"}'
    assert view["responseBody"]["text"] == HANGUP
    headers = view["requestHeaders"]
    assert headers["webhook-signature"] == "***"
    assert headers["Idempotency-Key"] == headers["webhook-id"] == summary["requestId"]
    received = {name.lower(): value for name, value in view["responseHeaders"].items()}
    assert received["x-request-id"] == "r-1"
    assert "set-cookie" not in received


async def test_both_attempts_of_a_request(webhook_scene: WebhookScene) -> None:
    """A request that is repeated by itself has two attempts, with one request id."""
    webhook_scene.server.answers = [
        web.Response(status=503, text="busy"),
        web.Response(text=HANGUP),
    ]
    await webhook_scene.ask()
    second, first = await webhook_scene.list()
    assert first["requestId"] == second["requestId"] == f"{CALL}.r0"
    assert (first["attempt"], first["reason"], first["outcome"]) == (1, "status_503", "failed")
    assert (second["attempt"], second["status"]) == (2, 200)
    assert (await webhook_scene.show(first["id"]))["responseBody"]["text"] == "busy"


async def test_an_invalid_response_is_shown(webhook_scene: WebhookScene) -> None:
    """The log has the body that was no action, and names the field that is wrong."""
    webhook_scene.server.answers = [web.Response(text='{"type":"dance"}')]
    with pytest.raises(WebhookFailed):
        await webhook_scene.ask()
    await webhook_scene.scene.attempts.flush()
    (attempt,) = await webhook_scene.list(outcome="failed")
    assert attempt["reason"] == "invalid_action"
    shown = await webhook_scene.show(attempt["id"])
    assert shown["responseBody"]["text"] == '{"type":"dance"}'
    assert shown["detail"].startswith("type: invalid value 'dance'; one of play, ")


async def test_no_connection(webhook_scene: WebhookScene) -> None:
    """An attempt without a response has status 0."""
    webhook_scene.url = "http://127.0.0.1:1/"
    with pytest.raises(WebhookFailed):
        await webhook_scene.ask()
    await webhook_scene.scene.attempts.flush()
    assert [each["reason"] for each in await webhook_scene.list()] == ["connect", "connect"]
    assert all("status" not in each for each in await webhook_scene.list())


async def test_filters_and_pages(webhook_scene: WebhookScene) -> None:
    """Lists by call, kind and outcome; `before` and `after` continue without gaps."""
    for number in range(3):
        await webhook_scene.ask(number)
    await webhook_scene.ask(3, GATHERED)
    every = [each["id"] for each in await webhook_scene.list()]
    assert [each["kind"] for each in await webhook_scene.list(kind="gather")] == ["gather"]
    assert len(await webhook_scene.list(callId=CALL)) == 4
    assert await webhook_scene.list(callId="3-pbx1-bbbbbbbb") == []
    assert await webhook_scene.list(outcome="failed") == []
    _, page = await webhook_scene.scene.request("GET", "/webhooks/acme", params={"limit": "3"})
    assert [each["id"] for each in page["attempts"]] == every[:3]
    rest = await webhook_scene.list(before=page["next"])
    assert [each["id"] for each in rest] == every[3:]
    later = await webhook_scene.list(after=every[2])
    assert [each["id"] for each in later] == [every[1], every[0]]
    of_call = await webhook_scene.list(callId=CALL, after=every[2])
    assert [each["id"] for each in of_call] == [every[1], every[0]]


async def test_a_reader_that_follows(webhook_scene: WebhookScene) -> None:
    """`next` of a list with `after` is where to continue, also if nothing matched."""
    query = {"after": "0-0", "outcome": "failed"}
    _, page = await webhook_scene.scene.request("GET", "/webhooks/acme", params=query)
    assert page == {"attempts": [], "next": "0-0"}
    await webhook_scene.ask()
    _, page = await webhook_scene.scene.request("GET", "/webhooks/acme", params=query)
    assert page == {"attempts": [], "next": (await webhook_scene.list())[0]["id"]}


async def test_another_account_sees_nothing(webhook_scene: WebhookScene) -> None:
    """Neither in a list, nor by the id of an attempt or a call."""
    await webhook_scene.ask()
    (attempt,) = await webhook_scene.list()
    scene = webhook_scene.scene
    for query in ("", f"?callId={CALL}", "?after=0-0"):
        _, page = await scene.request("GET", f"/webhooks/other{query}")
        assert page["attempts"] == []
    path = f"/webhooks/other/{attempt['id']}"
    assert await scene.problem("GET", path) == (404, "not_found")
    assert await scene.problem("POST", f"{path}/retry") == (404, "not_found")


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=201", "kind=call", "outcome=ok", "after=x", "before=1-99999999999999999999",
     "after=1-0&before=2-0", "since=1"],
)  # fmt: skip
async def test_invalid_filters(scene: RpcScene, query: str) -> None:
    """They are rejected."""
    assert (await scene.problem("GET", f"/webhooks/acme?{query}"))[0] == 400


@pytest.mark.parametrize("attempt", ["x", "1-0", "1-99999999999999999999", "1"])
async def test_an_unknown_attempt(scene: RpcScene, attempt: str) -> None:
    """There is none with this id."""
    assert await scene.problem("GET", f"/webhooks/acme/{attempt}") == (404, "not_found")


async def test_sensitive_digits_are_not_logged(webhook_scene: WebhookScene) -> None:
    """Neither in the request, nor where the server repeats them; such a request is not repeated."""
    webhook_scene.server.answers = [
        web.Response(text='{"type":"say","data":{"text":"4711"}}', headers={"Location": "/4711"})
    ]
    await webhook_scene.ask(body=GATHERED, sensitive="4711")
    (attempt,) = await webhook_scene.list()
    view = await webhook_scene.show(attempt["id"])
    assert "4711" not in msgspec.json.encode(view).decode()
    assert '"dtmf":"***"' in view["requestBody"]["text"]
    assert b"4711" in webhook_scene.server.requests[0][1]
    problem = await webhook_scene.scene.problem("POST", f"/webhooks/acme/{attempt['id']}/retry")
    assert problem == (409, "not_repeatable")
