"""The webhook log over the RPC: lists, one attempt in full, and its repetition."""

import time
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from aiohttp import web

from engine.callbacks.transport import SignedEvent
from engine.callbacks.transports.http import HttpTransport
from engine.runtime.io.custom_http_requests import ApiRequestRunner
from engine.webhooks.action_client import ActionClient
from engine.webhooks.api_sender import ApiSender
from engine.webhooks.errors import WebhookFailed
from tests.contract.rpc.harness.bench import Bench
from tests.contract.webhooks.customer import HANGUP, Server
from tests.harness.signing import fixed_signer
from wire.callbacks.targets import HttpsTarget
from wire.tree import Limits

CALL = "3-pbx1-aaaaaaaa"
GATHERED = b'{"callId":"3-pbx1-aaaaaaaa","dtmf":"4711","event":"gather"}'
EVENT = b'{"event":"answered","timestamp":1}'
REQUEST_ID = "0123456789abcdef01234567"
SECRET = 'a-secret"/+&='  # noqa: S105 - with characters that JSON and addresses write differently


class Scene:
    """A bench, a customer's server, and the clients that the engine has for it."""

    def __init__(self, bench: Bench, server: Server, url: str) -> None:
        self.bench, self.server, self.url = bench, server, url
        limits, signer, log = Limits(allow_insecure=True), fixed_signer(), bench.attempts
        session = bench.session
        self.actions = ActionClient(session, limits, signer, time.time, lambda: 0.5, log=log)
        sender = ApiSender(session, time.time, lambda: 0.5, log=log)
        self.requests = ApiRequestRunner(bench.store, sender, signer)
        self.callbacks = HttpTransport(session, log=log)

    async def ask(self, number: int = 0, body: bytes = b"{}", sensitive: str = "") -> None:
        """Request an action for a call."""
        await self.actions.ask("acme", self.url, body, f"{CALL}.r{number}", sensitive)
        await self.bench.attempts.flush()

    async def list(self, **query: str) -> list[dict[str, Any]]:
        """Return the attempts that match."""
        status, page = await self.bench.request("GET", "/webhooks/acme", params=query)
        assert status == 200, page
        return list(page["attempts"])

    async def show(self, attempt: str) -> dict[str, Any]:
        """Return an attempt in full."""
        status, view = await self.bench.request("GET", f"/webhooks/acme/{attempt}")
        assert status == 200, view
        return dict(view)

    async def retry(self, attempt: str) -> dict[str, Any]:
        """Repeat an attempt."""
        status, view = await self.bench.request("POST", f"/webhooks/acme/{attempt}/retry")
        assert status == 200, view
        return dict(view)


@pytest.fixture
async def scene(bench: Bench) -> AsyncIterator[Scene]:
    """Run a customer's server that answers with an action."""
    server = Server(web.Response(text=HANGUP, headers={"X-Request-Id": "r-1", "Set-Cookie": "a=b"}))
    async with server.open() as url:
        yield Scene(bench, server, url)


async def test_an_attempt_in_full(scene: Scene) -> None:
    """It has what was sent and what came back; the signature is masked, cookies are left out."""
    await scene.ask(body=b'{"event":"start"}')
    (summary,) = await scene.list()
    view = await scene.show(summary["id"])
    assert summary.items() <= view.items()
    assert summary["callId"] == CALL
    assert (summary["kind"], summary["attempt"], summary["outcome"]) == ("action", 1, "succeeded")
    assert (summary["status"], summary["url"]) == (200, scene.url)
    assert view["requestBody"]["text"] == '{"event":"start"}'
    assert view["responseBody"]["text"] == HANGUP
    headers = view["requestHeaders"]
    assert headers["webhook-signature"] == "***"
    assert headers["Idempotency-Key"] == headers["webhook-id"] == summary["requestId"]
    assert view["responseHeaders"]["X-Request-Id"] == "r-1"
    assert "Set-Cookie" not in view["responseHeaders"]


async def test_both_attempts_of_a_request(scene: Scene) -> None:
    """A request that is repeated by itself has two attempts, with one request id."""
    scene.server.answers = [web.Response(status=503, text="busy"), web.Response(text=HANGUP)]
    await scene.ask()
    second, first = await scene.list()
    assert first["requestId"] == second["requestId"] == f"{CALL}.r0"
    assert (first["attempt"], first["reason"], first["outcome"]) == (1, "status_503", "failed")
    assert (second["attempt"], second["status"]) == (2, 200)
    assert (await scene.show(first["id"]))["responseBody"]["text"] == "busy"


async def test_an_invalid_response_is_shown(scene: Scene) -> None:
    """The log has the body that was no action, and says so."""
    scene.server.answers = [web.Response(text='{"type":"dance"}')]
    with pytest.raises(WebhookFailed):
        await scene.ask()
    await scene.bench.attempts.flush()
    (attempt,) = await scene.list(outcome="failed")
    assert attempt["reason"] == "invalid_action"
    assert (await scene.show(attempt["id"]))["responseBody"]["text"] == '{"type":"dance"}'


async def test_no_connection(scene: Scene) -> None:
    """An attempt without a response has status 0."""
    scene.url = "http://127.0.0.1:1/"
    with pytest.raises(WebhookFailed):
        await scene.ask()
    await scene.bench.attempts.flush()
    assert [each["reason"] for each in await scene.list()] == ["connect", "connect"]
    assert all("status" not in each for each in await scene.list())


async def test_filters_and_pages(scene: Scene) -> None:
    """Lists by call, kind and outcome; `before` and `after` continue without gaps."""
    for number in range(3):
        await scene.ask(number)
    await scene.ask(3, GATHERED)
    every = [each["id"] for each in await scene.list()]
    assert [each["kind"] for each in await scene.list(kind="gather")] == ["gather"]
    assert len(await scene.list(callId=CALL)) == 4
    assert await scene.list(callId="3-pbx1-bbbbbbbb") == []
    assert await scene.list(outcome="failed") == []
    _, page = await scene.bench.request("GET", "/webhooks/acme", params={"limit": "3"})
    assert [each["id"] for each in page["attempts"]] == every[:3]
    rest = await scene.list(before=page["next"])
    assert [each["id"] for each in rest] == every[3:]
    later = await scene.list(after=every[2])
    assert [each["id"] for each in later] == [every[1], every[0]]
    of_call = await scene.list(callId=CALL, after=every[2])
    assert [each["id"] for each in of_call] == [every[1], every[0]]


async def test_a_reader_that_follows(scene: Scene) -> None:
    """`next` of a list with `after` is where to continue, also if nothing matched."""
    query = {"after": "0-0", "outcome": "failed"}
    _, page = await scene.bench.request("GET", "/webhooks/acme", params=query)
    assert page == {"attempts": [], "next": "0-0"}
    await scene.ask()
    _, page = await scene.bench.request("GET", "/webhooks/acme", params=query)
    assert page == {"attempts": [], "next": (await scene.list())[0]["id"]}


async def test_another_account_sees_nothing(scene: Scene) -> None:
    """Neither in a list, nor by the id of an attempt or a call."""
    await scene.ask()
    (attempt,) = await scene.list()
    bench = scene.bench
    for query in ("", f"?callId={CALL}", "?after=0-0"):
        _, page = await bench.request("GET", f"/webhooks/other{query}")
        assert page["attempts"] == []
    path = f"/webhooks/other/{attempt['id']}"
    assert await bench.problem("GET", path) == (404, "not_found")
    assert await bench.problem("POST", f"{path}/retry") == (404, "not_found")


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=201", "kind=call", "outcome=ok", "after=x", "before=1-99999999999999999999",
     "after=1-0&before=2-0", "since=1"],
)  # fmt: skip
async def test_invalid_filters(bench: Bench, query: str) -> None:
    """They are rejected."""
    assert (await bench.problem("GET", f"/webhooks/acme?{query}"))[0] == 400


@pytest.mark.parametrize("attempt", ["x", "1-0", "1-99999999999999999999", "1"])
async def test_an_unknown_attempt(bench: Bench, attempt: str) -> None:
    """There is none with this id."""
    assert await bench.problem("GET", f"/webhooks/acme/{attempt}") == (404, "not_found")


async def test_sensitive_digits_are_not_logged(scene: Scene) -> None:
    """Neither in the request, nor where the server repeats them; such a request is not repeated."""
    scene.server.answers = [
        web.Response(text='{"type":"say","data":{"text":"4711"}}', headers={"Location": "/4711"})
    ]
    await scene.ask(body=GATHERED, sensitive="4711")
    (attempt,) = await scene.list()
    view = await scene.show(attempt["id"])
    assert "4711" not in msgspec.json.encode(view).decode()
    assert '"dtmf":"***"' in view["requestBody"]["text"]
    assert b"4711" in scene.server.requests[0][1]
    problem = await scene.bench.problem("POST", f"/webhooks/acme/{attempt['id']}/retry")
    assert problem == (409, "not_repeatable")


async def test_a_retry_is_the_same_request(scene: Scene) -> None:
    """It has the same body and idempotency key, a new signature, and an attempt of its own."""
    await scene.ask(body=b'{"event":"start"}')
    (attempt,) = await scene.list()
    repeated = await scene.retry(attempt["id"])
    (first, body), (second, again) = scene.server.requests
    assert body == again
    for name in ("Idempotency-Key", "webhook-id", "Content-Type"):
        assert first[name] == second[name]
    assert second["webhook-signature"].startswith("v1,")
    assert (repeated["retryOf"], repeated["attempt"]) == (attempt["id"], 2)
    assert repeated["requestId"] == attempt["requestId"]
    assert repeated["id"] == (await scene.list())[0]["id"]
    assert (await scene.retry(repeated["id"]))["retryOf"] == repeated["id"]


async def test_a_retry_that_fails(scene: Scene) -> None:
    """Its outcome is in the response and in the log; it is sent once."""
    await scene.ask()
    (attempt,) = await scene.list()
    scene.server.answers = [web.Response(status=503)]
    repeated = await scene.retry(attempt["id"])
    assert (repeated["outcome"], repeated["reason"]) == ("failed", "status_503")
    assert len(scene.server.requests) == 2


async def test_callbacks(scene: Scene) -> None:
    """A callback is logged with its event and what the target answers; a retry is the event."""
    scene.server.answers = [web.Response(status=500, text="a bug"), web.Response(text="thanks")]
    signer = await fixed_signer()("acme")
    event_id = f"{CALL}.e1"
    event = SignedEvent("acme", event_id, EVENT, signer.headers(event_id, 1.0, EVENT), 3)
    await scene.callbacks.deliver(HttpsTarget(scene.url), event)
    await scene.bench.attempts.flush()
    (attempt,) = await scene.list(kind="callback")
    assert (attempt["attempt"], attempt["reason"], attempt["callId"]) == (3, "status_500", CALL)
    assert (await scene.show(attempt["id"]))["responseBody"]["text"] == "a bug"
    repeated = await scene.retry(attempt["id"])
    assert (repeated["outcome"], repeated["responseBody"]["text"]) == ("succeeded", "thanks")
    (first, body), (second, again) = scene.server.requests
    assert body == again == EVENT
    assert first["webhook-id"] == second["webhook-id"]
    assert first["webhook-timestamp"] != second["webhook-timestamp"]


async def put_request(scene: Scene, **more: Any) -> None:
    """Store an API request with secrets in all of its parts."""
    document = {
        "url": scene.url + "?key={{secrets.token}}&from={{call.from}}",
        "method": "POST",
        "headers": {"X-App": "{{secrets.token}}", "Authorization": "Bearer {{secrets.token}}"},
        "json": {"token": "{{secrets.token}}", "from": "{{call.from}}"},
        "secrets": {"token": SECRET},
    }
    await scene.bench.store.put_request("acme", REQUEST_ID, msgspec.json.encode(document | more))


async def send_request(scene: Scene, caller: str = "+4799999999") -> dict[str, Any]:
    """Send the API request, and return its attempt in full."""
    await scene.requests.ask("acme", REQUEST_ID, lambda _name: caller, f"{CALL}.r7")
    await scene.bench.attempts.flush()
    return await scene.show((await scene.list())[0]["id"])


async def test_secrets_of_an_api_request(scene: Scene) -> None:
    """The log has their templates, and a retry fills in the present secrets."""
    await put_request(scene)
    view = await send_request(scene)
    assert "a-secret" not in msgspec.json.encode(view).decode()
    assert view["requestBody"]["text"] == '{"token":"{{secrets.token}}","from":"+4799999999"}'
    assert view["requestHeaders"]["X-App"] == "{{secrets.token}}"
    assert view["requestHeaders"]["Authorization"] == "***"
    assert (await scene.retry(view["id"]))["outcome"] == "succeeded"
    (first, body), (second, again) = scene.server.requests
    assert body == again
    assert first["Authorization"] == second["Authorization"] == f"Bearer {SECRET}"
    assert first["X-App"] == second["X-App"] == SECRET
    assert first["Idempotency-Key"] == second["Idempotency-Key"]
    again_view = await scene.show((await scene.list())[0]["id"])
    assert "a-secret" not in msgspec.json.encode(again_view).decode()


async def test_text_that_looks_like_a_secret(scene: Scene) -> None:
    """A caller cannot get a secret by its name: such a request is not repeated."""
    await put_request(scene)
    view = await send_request(scene, "{{secrets.token}}")
    problem = await scene.bench.problem("POST", f"/webhooks/acme/{view['id']}/retry")
    assert problem == (409, "not_repeatable")


@pytest.mark.parametrize("change", ["removed", "without_secret", "other_header"])
async def test_an_api_request_that_changed(scene: Scene, change: str) -> None:
    """What the log does not have comes from the API request; without it nothing is sent."""
    header = {"Authorization": "{{call.from}}"} if change == "other_header" else None
    await put_request(scene, **({"headers": header} if header else {}))
    view = await send_request(scene)
    if change == "removed":
        await scene.bench.store.put_request("acme", REQUEST_ID, None)
    elif change == "without_secret":
        await put_request(scene, secrets={})
    problem = await scene.bench.problem("POST", f"/webhooks/acme/{view['id']}/retry")
    assert problem == (409, "not_repeatable")
    assert len(scene.server.requests) == 1


async def test_a_long_body(scene: Scene) -> None:
    """The log has its beginning, and does not repeat it."""
    await scene.ask(body=b'{"x":"%b"}' % (b"x" * 9_000))
    (attempt,) = await scene.list()
    view = await scene.show(attempt["id"])
    assert view["requestBody"]["truncated"]
    assert len(view["requestBody"]["text"]) == 8_192
    problem = await scene.bench.problem("POST", f"/webhooks/acme/{attempt['id']}/retry")
    assert problem == (409, "not_repeatable")
