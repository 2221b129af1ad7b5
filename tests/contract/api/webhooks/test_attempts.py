"""The webhook log over REST, on both databases: an account reads and repeats its own attempts."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from tests.contract.rpc.webhooks.scene import CALL, GATHERED, WebhookScene
from tests.harness.api.rest import Rest
from tests.harness.webhooks.customer import HANGUP, Server

LIST = "/srmain/voice/webhooks"


@pytest.fixture
async def webhook_scene(kept: Rest) -> AsyncIterator[WebhookScene]:
    """Run a customer's server."""
    server = Server(web.Response(text=HANGUP))
    async with server.open() as url:
        yield WebhookScene(kept.scene, server, url)


async def get(rest: Rest, path: str = LIST, **query: Any) -> Any:
    """Return what a GET finds."""
    answer = await rest.request("GET", path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_attempts_are_listed(kept: Rest, webhook_scene: WebhookScene) -> None:
    """The latest first, by filters and page by page; `after` lists the earliest first."""
    for number in range(3):
        await webhook_scene.ask(number)
    await webhook_scene.ask(3, GATHERED)
    page = await get(kept)
    assert [each["requestId"] for each in page["data"]] == [f"{CALL}.r{n}" for n in (3, 2, 1, 0)]
    assert (page["limit"], page["nextCursor"]) == (50, None)
    first = page["data"][-1]
    assert first["time"].endswith("Z")
    assert {"outcome": "succeeded", "status": 200, "callId": CALL, "attempt": 1}.items() <= (
        first.items()
    )
    assert len((await get(kept, kind="gather", callId=CALL))["data"]) == 1
    part = await get(kept, limit=3)
    rest = await get(kept, limit=3, cursor=part["nextCursor"])
    assert part["data"] + rest["data"] == page["data"]
    later = await get(kept, after=first["id"])
    assert [each["id"] for each in later["data"]] == [e["id"] for e in page["data"][2::-1]]


async def test_one_attempt(kept: Rest, webhook_scene: WebhookScene) -> None:
    """It is shown in full, with masked signatures."""
    await webhook_scene.ask(body=b'{"event":"start"}')
    (attempt,) = (await get(kept))["data"]
    view = await get(kept, f"{LIST}/{attempt['id']}")
    assert attempt.items() <= view.items()
    assert view["requestBody"] == {"text": '{"event":"start"}', "truncated": False}
    assert view["requestHeaders"]["webhook-signature"] == "***"
    assert view["responseBody"]["text"] == HANGUP


async def test_a_retry(kept: Rest, webhook_scene: WebhookScene) -> None:
    """The request is sent once for one Idempotency-Key of the REST request."""
    await webhook_scene.ask()
    (attempt,) = (await get(kept))["data"]
    path, key = f"{LIST}/{attempt['id']}/retry", {"Idempotency-Key": "again-1"}
    first = await kept.request("POST", path, headers=key)
    assert first.status_code == 200, first.text
    assert first.json()["retryOf"] == attempt["id"]
    assert (await kept.request("POST", path, headers=key)).json() == first.json()
    sent = [headers["webhook-id"] for headers, _ in webhook_scene.server.requests]
    assert sent == [attempt["requestId"]] * 2


async def test_what_cannot_be_repeated(kept: Rest, webhook_scene: WebhookScene) -> None:
    """An attempt with sensitive digits is not sent again."""
    await webhook_scene.ask(body=GATHERED, sensitive="4711")
    (attempt,) = (await get(kept))["data"]
    rejected = await kept.rejected("POST", f"{LIST}/{attempt['id']}/retry")
    assert rejected == (409, "not_repeatable", [])


async def test_another_account_sees_nothing(kept: Rest, webhook_scene: WebhookScene) -> None:
    """By list, id, call or retry."""
    await webhook_scene.ask()
    (attempt,) = (await get(kept))["data"]
    token = await kept.token_of("other", "other")
    for query in ({}, {"callId": CALL}, {"after": "0-0"}):
        answer = await kept.request("GET", LIST, params=query, token=token)
        assert answer.json()["data"] == []
    path = f"{LIST}/{attempt['id']}"
    assert await kept.rejected("GET", path, token=token) == (404, "not_found", [])
    assert await kept.rejected("POST", f"{path}/retry", token=token) == (404, "not_found", [])
    assert len(webhook_scene.server.requests) == 1


async def test_an_agent_sees_nothing(kept: Rest) -> None:
    """The token of an agent has no scope for the log."""
    token = await kept.token_of("1001")
    assert await kept.rejected("GET", LIST, token=token) == (403, "scope", [])


@pytest.mark.parametrize(
    ("query", "field"),
    [({"limit": 0}, "limit"), ({"kind": "x"}, "kind"), ({"outcome": "x"}, "outcome"),
     ({"cursor": "x"}, "cursor"), ({"after": "1"}, "after"), ({"since": "1"}, "since"),
     ({"after": "1-0", "cursor": "2-0"}, "before")],
)  # fmt: skip
async def test_invalid_filters(rest: Rest, query: dict[str, Any], field: str) -> None:
    """They are rejected, and the field is named."""
    assert await rest.rejected("GET", LIST, params=query) == (400, "invalid", [field])


async def test_unknown_attempts(rest: Rest) -> None:
    """There is no attempt with such an id."""
    for attempt in ("1-0", "x", "1-99999999999999999999"):
        assert (await rest.rejected("GET", f"{LIST}/{attempt}"))[:2] == (404, "not_found")
