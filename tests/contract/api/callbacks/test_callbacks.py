"""`/srmain/voice/callbacks` over HTTP, on both databases: target, secrets, dead letters, tests."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec.json import encode
from msgspec.structs import replace
from sqlalchemy import select

from api.http.idempotency import responses
from tests.harness.api.rest import Rest
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.rpc.preparation import bury
from tests.harness.scenarios.graphs import API

BASE = "/srmain/voice/callbacks"
TARGET = {"target": "https://example.com/status", "concurrency": 4, "perS": 5.0}


@pytest.fixture
async def hooks() -> AsyncIterator[WebhookServer]:
    """Provide a customer's server."""
    async with WebhookServer() as made:
        yield made


async def put(rest: Rest, body: object = TARGET, **headers: str) -> tuple[Any, str]:
    """Put settings that must be accepted; return what is shown, and the ETag."""
    answer = await rest.request("PUT", BASE, body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json(), answer.headers["ETag"]


async def rotated(rest: Rest, **headers: str) -> Any:
    """Rotate the secret; return what is shown."""
    answer = await rest.request("POST", f"{BASE}/rotate", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def at_engine(rest: Rest) -> Any:
    """Return the settings that the engine has read from its store."""
    return await rest.scene.accounts.reread("acme")


async def test_the_secret_is_shown_once(kept: Rest) -> None:
    """When it is created, and when it is rotated; the engine signs with it at once."""
    made, _ = await put(kept)
    secret = made.pop("secret")
    shown = await kept.request("GET", BASE)
    assert shown.json() == made
    assert made == {
        **TARGET, "secretNumber": 0, "secretCreatedTime": made["secretCreatedTime"],
        "stopped": False,
    }  # fmt: skip
    again, _ = await put(kept, {"target": "https://example.com/other"})
    assert "secret" not in again
    assert (await at_engine(kept)).secret == secret
    second = await rotated(kept)
    assert second["secretNumber"] == 1
    assert second["secret"] != secret
    assert second["previousSecretUntil"] > second["secretCreatedTime"]
    settings = await at_engine(kept)
    assert (settings.secret, settings.previous) == (second["secret"], secret)
    assert "secret" not in (await kept.request("GET", BASE)).json()


async def test_a_repeated_rotation_shows_the_same_secret(kept: Rest) -> None:
    """With its ETag; no second secret is made, and the database has none in readable form."""
    await put(kept)
    header = {"Idempotency-Key": "rotation-1"}
    answers = [await kept.request("POST", f"{BASE}/rotate", headers=header) for _ in range(2)]
    first, again = answers
    assert (first.status_code, first.json()["secretNumber"]) == (200, 1)
    assert (again.json(), again.headers["ETag"]) == (first.json(), first.headers["ETag"])
    assert (await kept.request("GET", BASE)).headers["ETag"] == first.headers["ETag"]
    for stored in await kept.services.database.rows(select(responses)):
        assert first.json()["secret"] not in str(stored)
    tag = {"Idempotency-Key": "rotation-2", "If-Match": '"1"'}
    assert (await kept.rejected("POST", f"{BASE}/rotate", headers=tag))[0] == 412


async def test_a_deleted_secret_never_signs_again(kept: Rest) -> None:
    """What remains is the number of the next one."""
    made, _ = await put(kept)
    assert (await kept.request("DELETE", BASE)).status_code == 204
    for method in ("GET", "DELETE"):
        assert (await kept.rejected(method, BASE))[:2] == (404, "not_found")
    assert (await at_engine(kept)).target is None
    again, _ = await put(kept)
    assert (again["secretNumber"], again["secret"] != made["secret"]) == (1, True)


async def test_each_account_has_its_own(kept: Rest) -> None:
    """Another account sees no settings, and no dead letters."""
    made, _ = await put(kept)
    await bury(kept.scene, 1)
    theirs = await kept.token_of("other", "other")
    for method in ("GET", "DELETE"):
        assert (await kept.rejected(method, BASE, token=theirs))[:2] == (404, "not_found")
    page = await kept.request("GET", f"{BASE}/dead-letters", token=theirs)
    assert page.json() == {"data": [], "nextCursor": None}
    answer = await kept.request("POST", f"{BASE}/rotate", token=theirs)
    assert answer.json()["secret"] != made["secret"]
    assert (await kept.request("GET", BASE)).json()["secretNumber"] == 0


async def test_of_two_writers_the_second_gets_412(kept: Rest) -> None:
    """A repeated rotation creates no second secret."""
    _, etag = await put(kept, **{"If-None-Match": "*"})
    assert (await rotated(kept, **{"If-Match": etag}))["secretNumber"] == 1
    for method, path, body in (
        ("POST", f"{BASE}/rotate", None),
        ("PUT", BASE, TARGET),
        ("DELETE", BASE, None),
    ):
        refused = await kept.rejected(method, path, body, headers={"If-Match": etag})
        assert refused == (412, "changed_meanwhile", [])
    assert (await kept.request("GET", BASE)).json()["secretNumber"] == 1


async def test_settings_without_a_target_are_created(kept: Rest) -> None:
    """A secret that is left, or signs webhooks, is nothing that GET shows, and so no 412."""
    await put(kept)
    assert (await kept.request("DELETE", BASE)).status_code == 204
    assert (await kept.rejected("GET", BASE))[:2] == (404, "not_found")
    made, _ = await put(kept, **{"If-None-Match": "*"})
    assert made["target"] == TARGET["target"]
    refused = await kept.rejected("PUT", BASE, TARGET, headers={"If-None-Match": "*"})
    assert refused == (412, "changed_meanwhile", [])


async def test_a_test_event(kept: Rest, hooks: WebhookServer) -> None:
    """It is sent once for a key; without a target it is 409."""
    path, url = f"{BASE}/test", hooks.answers("/status", None)
    assert (await kept.rejected("POST", path))[:2] == (409, "no_target")
    await put(kept)
    settings = await at_engine(kept)
    assert settings.target == TARGET["target"]
    await kept.services.documents.store.put(
        "acme", "callback", "default", encode(replace(settings, target=url))
    )
    headers = {"Idempotency-Key": "k-1"}
    first = await kept.request("POST", path, headers=headers)
    again = await kept.request("POST", path, headers=headers)
    assert first.status_code == 200, first.text
    assert (first.json()["delivered"], again.json()) == (True, first.json())
    assert len(hooks.requests_to("/status")) == 1


async def test_dead_letters(kept: Rest) -> None:
    """They are listed by pages, and queued again by id or all at once."""
    await put(kept)
    await bury(kept.scene, 130)
    path = f"{BASE}/dead-letters"
    first = (await kept.request("GET", path)).json()
    rest = (await kept.request("GET", f"{path}?cursor={first['nextCursor']}")).json()
    assert (len(first["data"]), len(rest["data"]), rest["nextCursor"]) == (100, 30, None)
    first_dead = first["data"][0]
    assert (first_dead["reason"], first_dead["target"]) == ("overflow", "auto-set")
    assert first_dead["event"]["id"] == first_dead["eventId"]
    ids = [first_dead["id"]]
    headers = {"Idempotency-Key": "k-1"}
    for _ in range(2):
        answer = await kept.request("POST", f"{BASE}/resend", {"ids": ids}, headers=headers)
        assert answer.json() == {"resent": 1}
    assert await kept.post(f"{BASE}/resend", all=True) == {"resent": 129}
    assert (await kept.rejected("GET", f"{path}?cursor=x"))[2] == ["cursor"]
    assert (await kept.rejected("POST", f"{BASE}/resend", {"ids": ids, "all": True}))[0] == 400


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"target": "http://example.com/"}, "target"),
        ({"target": "auto-set"}, "target"),
        ({"target": API}, "target"),
        ({**TARGET, "concurrency": 0}, "concurrency"),
        ({**TARGET, "perS": 0}, "perS"),
        ({**TARGET, "secret": "whsec_x"}, "secret"),
    ],
)
async def test_bad_input_names_its_field(rest: Rest, body: object, path: str) -> None:
    """Nothing is stored."""
    status, _, paths = await rest.rejected("PUT", BASE, body)
    assert (status, paths) == (400, [path])
    assert (await rest.rejected("GET", BASE))[0] == 404


async def test_without_an_engine_nothing_is_stored(served: Any) -> None:
    """A change needs an engine, which makes the secrets."""
    for method, path, body in (("PUT", BASE, TARGET), ("POST", f"{BASE}/rotate", None)):
        status, problem = await served.request(method, path, body=body)
        assert (status, problem["code"]) == (503, "no_engine")
    assert (await served.request("GET", BASE))[0] == 404
