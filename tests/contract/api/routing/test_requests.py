"""`/srmain/voice/requests` over HTTP, on both databases: secrets are never shown."""

import json
from typing import Any

import pytest

from tests.harness.api.rest import Rest
from tests.harness.scenarios.graphs import API

BASE = "/srmain/voice/requests"
ONE = f"{BASE}/{API}"
SECRET = "s3cr3t-of-acme"  # noqa: S105 - of this test
REQUEST: dict[str, Any] = {
    "name": "Kunder 顧客",
    "url": "https://crm.example/people?n={{call.from}}",
    "headers": {"Authorization": "Bearer {{secrets.token}}"},
    "answers": {"tier": "/tier"},
    "secrets": {"token": SECRET},
}


async def put(rest: Rest, body: object = REQUEST, **headers: str) -> Any:
    """Put a request that must be accepted; return what is shown, with its ETag."""
    answer = await rest.request("PUT", ONE, body, headers=headers)
    assert answer.status_code == 200, answer.text
    assert SECRET not in answer.text
    return {**answer.json(), "etag": answer.headers["ETag"]}


async def secrets_of(rest: Rest) -> Any:
    """Return the secrets with which the engine sends the request."""
    found = await rest.scene.store.request("acme", API)
    assert found is not None
    return json.loads(found).get("secrets", {})


async def test_secrets_are_kept_and_never_shown(kept: Rest) -> None:
    """One that is left out is kept, null removes one; only names are shown."""
    made = await put(kept)
    etag = made.pop("etag")
    assert made == {**REQUEST, "requestId": API, "secrets": ["token"]}
    assert await secrets_of(kept) == {"token": SECRET}
    shown = await kept.request("GET", ONE)
    assert (shown.json(), shown.headers["ETag"]) == (made, etag)
    changed = {**REQUEST, "name": "Two", "secrets": {"other": "x"}}
    assert (await put(kept, changed))["secrets"] == ["other", "token"]
    assert await secrets_of(kept) == {"token": SECRET, "other": "x"}
    assert (await put(kept, {**REQUEST, "secrets": {"other": None}}))["secrets"] == ["token"]
    assert await secrets_of(kept) == {"token": SECRET}
    page = await kept.request("GET", BASE)
    assert SECRET not in page.text
    (row,) = page.json()["data"]
    assert (row["requestId"], row["name"], row["secrets"]) == (API, "Kunder 顧客", ["token"])


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/people",
        "https://crm.example.evil.example/",
        "https://crm.example:8443/people",
        "https://crm.example\\.evil.example/",
    ],
)
async def test_secrets_go_to_no_other_host(rest: Rest, url: str) -> None:
    """Another host or port loses them: the same change gives them again, or they are deleted."""
    await put(rest)
    status, code, paths = await rest.rejected("PUT", ONE, {**REQUEST, "url": url, "secrets": {}})
    assert (status, code, paths) == (400, "unknown_secret", ["headers.Authorization"])
    plain = {"url": url, "secrets": {}}
    assert "secrets" not in await put(rest, plain)
    back = {**REQUEST, "secrets": {}}
    assert (await rest.rejected("PUT", ONE, back))[1] == "unknown_secret"
    assert (await put(rest, {**REQUEST, "url": url}))["secrets"] == ["token"]
    same = {**REQUEST, "url": url.partition("people")[0], "secrets": {}}
    assert (await put(rest, same))["secrets"] == ["token"]


async def test_each_account_sees_its_own(kept: Rest) -> None:
    """An id may be used by two accounts; deleted ones are 404."""
    await put(kept)
    theirs = await kept.token_of("other", "other")
    assert (await kept.request("GET", BASE, token=theirs)).json()["data"] == []
    for method in ("GET", "DELETE"):
        assert (await kept.rejected(method, ONE, token=theirs))[:2] == (404, "not_found")
    body = {**REQUEST, "secrets": {}}
    refused = await kept.rejected("PUT", ONE, body, token=theirs)
    assert refused == (400, "unknown_secret", ["headers.Authorization"])
    assert (await kept.request("DELETE", ONE)).status_code == 204
    assert (await kept.rejected("GET", ONE))[0] == 404
    assert await kept.scene.store.request("acme", API) is None


async def test_upper_case_ids_are_the_same(rest: Rest) -> None:
    """An id is a number in hexadecimal digits."""
    upper = f"{BASE}/{API.upper()}"
    assert (await rest.request("PUT", upper, REQUEST)).json()["requestId"] == API.lower()
    assert (await rest.request("GET", ONE)).status_code == 200
    assert (await rest.request("DELETE", upper)).status_code == 204


async def test_of_two_writers_the_second_gets_412(kept: Rest) -> None:
    """No secret of the first is lost."""
    etag = (await put(kept))["etag"]
    await put(kept, {**REQUEST, "secrets": {"other": "x"}}, **{"If-Match": etag})
    for method, body in (("PUT", REQUEST), ("DELETE", None)):
        refused = await kept.rejected(method, ONE, body, headers={"If-Match": etag})
        assert refused == (412, "changed_meanwhile", [])
    assert await secrets_of(kept) == {"token": SECRET, "other": "x"}


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"url": "http://crm.example/"}, "url"),
        ({"url": "https://{{vars.host}}/"}, "url"),
        ({"method": "TRACE"}, "method"),
        ({"headers": {"Host": "x"}}, "headers.Host"),
        ({"json": {}, "text": "x", "method": "POST"}, "text"),
        ({"text": "x"}, "method"),
        ({"headers": {"X": "{{secrets.none}}"}}, "headers.X"),
        ({"requestId": API}, "requestId"),
        ({"secrets": {"token": 7}}, "secrets"),
    ],
)
async def test_bad_input_names_its_field(rest: Rest, change: dict[str, Any], path: str) -> None:
    """Nothing is stored."""
    status, _, paths = await rest.rejected("PUT", ONE, {**REQUEST, **change})
    assert (status, paths[0].startswith(path)) == (400, True), paths
    assert (await rest.request("GET", BASE)).json()["total"] == 0


async def test_odd_ids(rest: Rest) -> None:
    """An id has 24 hexadecimal digits."""
    for odd in ("x", "%00", "a" * 25, "%D8%AF"):
        assert (await rest.rejected("PUT", f"{BASE}/{odd}", REQUEST))[2] == ["id"]
        assert (await rest.rejected("GET", f"{BASE}/{odd}"))[0] == 404
        assert (await rest.rejected("DELETE", f"{BASE}/{odd}"))[0] == 404


@pytest.mark.parametrize("depth", [300, *range(820, 960, 10)])
async def test_a_body_that_is_nested_too_deep(rest: Rest, depth: int) -> None:
    """It is invalid input, also if it can just be read, but not passed on to an engine."""
    nested = b"[" * depth + b"]" * depth
    body = b'{"url":"https://a.example/","method":"POST","json":%b}' % nested
    assert (await rest.rejected("PUT", ONE, body))[:2] == (400, "too_deep")
