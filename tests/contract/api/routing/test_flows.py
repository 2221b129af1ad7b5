"""`/srmain/voice/flows` over HTTP, on both databases: versions, checks, differences, rollback."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from api.routing.plugin import MAX_FLOW_DIFFS_OF_ACCOUNT
from tests.harness.api.databases import sqlite_url
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.rpc.scene import SAY, RpcScene

BASE = "/srmain/voice/flows"
ONE = f"{BASE}/support"


def says(text: str, **more: Any) -> dict[str, Any]:
    """Return a flow that says a text."""
    return {"start": "a", "nodes": {"a": {"type": "say", "data": {"text": text}}}, **more}


def calling(flow_id: str) -> dict[str, Any]:
    """Return a flow that calls another one."""
    return {"start": "a", "nodes": {"a": {"type": "flow", "data": {"flowId": flow_id}}}}


async def put(rest: Rest, document: object, path: str = ONE, **headers: str) -> Any:
    """Put a version that must be accepted; return its summary."""
    answer = await rest.request("PUT", path, document, headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.headers["ETag"] == f'"{answer.json()["version"]}"'
    return answer.json()


async def at_engine(rest: Rest, flow_id: str = "support") -> Any:
    """Return the flow that calls run."""
    status, found = await rest.scene.request("GET", f"/documents/acme/flow/{flow_id}")
    return found if status == 200 else None


async def test_each_put_is_a_version(kept: Rest) -> None:
    """Calls run the newest one; all are listed and shown, names in any script included."""
    first, second = says("one", name="Støtte 支援 دعم"), says("two")
    made = await put(kept, first)
    assert (made["flowId"], made["published"], made["latest"]) == ("support", 1, 1)
    assert await at_engine(kept) == first
    changed = await put(kept, second)
    assert (changed["published"], changed["latest"]) == (2, 2)
    assert await at_engine(kept) == second
    shown = await kept.request("GET", ONE)
    assert shown.headers["ETag"] == f'"{changed["version"]}"'
    assert (shown.json()["number"], shown.json()["document"]) == (2, second)
    listed = (await kept.request("GET", f"{ONE}/versions")).json()
    assert [(each["number"], each["isPublished"]) for each in listed["data"]] == [
        (2, True), (1, False),
    ]  # fmt: skip
    old = (await kept.request("GET", f"{ONE}/versions/1")).json()
    assert (old["document"], old["isPublished"]) == (first, False)
    for missing in (f"{ONE}/versions/3", f"{BASE}/other/versions/1", f"{BASE}/other/versions"):
        assert (await kept.rejected("GET", missing))[:2] == (404, "not_found")
    assert (await kept.rejected("GET", f"{ONE}/versions/0"))[2] == ["number"]


async def test_a_draft_is_published_later(kept: Rest) -> None:
    """Until then no call runs it; an earlier version is published to roll back."""
    draft = await put(kept, says("draft"), f"{ONE}?publish=false")
    assert (draft["published"], draft["latest"]) == (None, 1)
    assert await at_engine(kept) is None
    assert (await kept.request("GET", ONE)).json()["document"] == says("draft")
    published = await kept.post(f"{ONE}/publish", number=1)
    assert published["published"] == 1
    assert await at_engine(kept) == says("draft")
    await put(kept, says("two"))
    await put(kept, says("three"), f"{ONE}?publish=false")
    assert await at_engine(kept) == says("two")
    back = await kept.post(f"{ONE}/publish", number=1)
    assert (back["published"], back["latest"]) == (1, 3)
    assert await at_engine(kept) == says("draft")
    assert (await put(kept, says("four")))["published"] == 4
    assert (await kept.rejected("POST", f"{ONE}/publish", {"number": 9}))[0] == 404
    assert (await kept.rejected("POST", f"{BASE}/none/publish", {"number": 1}))[0] == 404


async def test_a_repeated_publication_is_one(kept: Rest) -> None:
    """The same idempotency key gets the same response."""
    await put(kept, says("one"))
    await put(kept, says("two"))
    headers = {"Idempotency-Key": "k-1"}
    first = await kept.request("POST", f"{ONE}/publish", {"number": 1}, headers=headers)
    again = await kept.request("POST", f"{ONE}/publish", {"number": 1}, headers=headers)
    assert (first.status_code, again.json()) == (200, first.json())


async def test_differences_of_versions(kept: Rest) -> None:
    """Field by field, in both directions."""
    await put(kept, says("one"))
    await put(kept, says("two", name="Two"))
    found = (await kept.request("GET", f"{ONE}/diff?from=1&to=2")).json()
    changed = {"path": "nodes.a.data.text", "change": "changed", "before": "one", "after": "two"}
    added = {"path": "name", "change": "added", "after": "Two"}
    assert found == {"from": 1, "to": 2, "differences": [changed, added], "hasMore": False}
    back = (await kept.request("GET", f"{ONE}/diff?from=2&to=1")).json()
    assert [each["change"] for each in back["differences"]] == ["changed", "removed"]
    assert (await kept.rejected("GET", f"{ONE}/diff?from=1&to=3"))[0] == 404
    assert (await kept.rejected("GET", f"{ONE}/diff?from=1"))[2] == ["to"]


async def test_comparisons_have_turns(kept: Rest) -> None:
    """An account's comparisons wait for each other, and one too many is 429."""
    await put(kept, says("one"))
    path, diffs = f"{ONE}/diff?from=1&to=1", kept.services.routing.flows.diffs
    async with diffs.slot("acme"):
        tasks = [
            asyncio.create_task(kept.request("GET", path)) for _ in range(MAX_FLOW_DIFFS_OF_ACCOUNT)
        ]
        ended, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert [(each.result().status_code, each.result().json()["code"]) for each in ended] == [
            (429, "too_many")
        ]
        others = await kept.token_of("other", "other")
        assert (await kept.request("GET", path, token=others)).status_code == 404
    assert [each.status_code for each in await asyncio.gather(*waiting)] == [200] * len(waiting)


async def test_flows_are_listed(kept: Rest) -> None:
    """By id, with pages; each account sees its own."""
    for name in ("b", "a", "c"):
        await put(kept, says(name), f"{BASE}/{name}")
    page = (await kept.request("GET", BASE)).json()
    assert [each["flowId"] for each in page["data"]] == ["a", "b", "c"]
    second = (await kept.request("GET", f"{BASE}?limit=1&offset=1")).json()
    assert second == {"data": [page["data"][1]], "total": 3, "limit": 1, "offset": 1}
    theirs = await kept.token_of("other", "other")
    assert (await kept.request("GET", BASE, token=theirs)).json()["total"] == 0
    for method, path in (
        ("GET", f"{BASE}/a"),
        ("DELETE", f"{BASE}/a"),
        ("GET", f"{BASE}/a/versions"),
        ("GET", f"{BASE}/a/versions/1"),
        ("GET", f"{BASE}/a/diff?from=1&to=1"),
    ):
        assert (await kept.rejected(method, path, token=theirs))[:2] == (404, "not_found")
    refused = await kept.rejected("POST", f"{BASE}/a/publish", {"number": 1}, token=theirs)
    assert refused[:2] == (404, "not_found")


async def test_a_flow_is_deleted(kept: Rest) -> None:
    """New calls do not find it; stored again, its numbers continue."""
    await put(kept, says("one"))
    assert (await kept.request("DELETE", ONE)).status_code == 204
    assert await at_engine(kept) is None
    assert (await kept.rejected("DELETE", ONE))[0] == 404
    assert (await put(kept, says("two")))["latest"] == 2


async def test_of_two_writers_the_second_gets_412(kept: Rest) -> None:
    """Also one that publishes; what the first has written stays."""
    created = await put(kept, says("one"), **{"If-None-Match": "*"})
    etag = f'"{created["version"]}"'
    await put(kept, says("two"), **{"If-Match": etag})
    stale = {"headers": {"If-Match": etag}}
    assert (await kept.rejected("PUT", ONE, says("x"), **stale))[:2] == (412, "changed_meanwhile")
    assert (await kept.rejected("POST", f"{ONE}/publish", {"number": 1}, **stale))[0] == 412
    assert (await kept.rejected("DELETE", ONE, **stale))[0] == 412
    refused = await kept.rejected("PUT", ONE, says("x"), headers={"If-None-Match": "*"})
    assert refused[0] == 412
    assert await at_engine(kept) == says("two")


async def test_a_check_stores_nothing(kept: Rest) -> None:
    """All errors of an invalid flow come at once, with paths; a valid one gets 204."""
    assert (await kept.request("POST", f"{ONE}/check", says("one"))).status_code == 204
    broken = {"start": "b", "nodes": {"a": {"type": "say", "data": {}, "next": "c"}}}
    for method, path in (("POST", f"{ONE}/check"), ("PUT", ONE)):
        status, _, paths = await kept.rejected(method, path, broken)
        assert (status, {*paths}) == (400, {"start", "nodes.a.data.text"})
    assert (await kept.request("GET", BASE)).json()["total"] == 0


async def test_flows_that_call_themselves(kept: Rest) -> None:
    """Directly or through others, stored or published later: rejected, with the way."""
    refused = await kept.rejected("PUT", ONE, calling("support"))
    assert refused == (400, "recursive_flow", ["nodes.a.data.flowId"])
    await put(kept, calling("b"), f"{BASE}/a")
    await put(kept, says("x"), f"{BASE}/b")
    assert (await kept.rejected("PUT", f"{BASE}/b", calling("a")))[1] == "recursive_flow"
    await put(kept, says("x"), f"{BASE}/a")
    await put(kept, calling("a"), f"{BASE}/b")
    refused = await kept.rejected("POST", f"{BASE}/a/publish", {"number": 1})
    assert refused[:2] == (400, "recursive_flow")
    assert await at_engine(kept, "a") == says("x")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{" + b" " * 5_000_000 + b"}", 413, "too_large"),
        (b"", 400, "invalid"),
        (b"{", 400, "invalid"),
        (b'"\xff"', 400, "invalid"),
        (b"[" * 100_000, 400, "too_deep"),
        (b'{"type": "sing"}', 400, "unknown_verb"),
    ],
)
async def test_bodies_that_are_no_flow(rest: Rest, body: bytes, status: int, code: str) -> None:
    """Five megabytes included; nothing is stored."""
    assert (await rest.rejected("PUT", ONE, body or None))[:2] == (status, code)
    assert (await rest.request("GET", BASE)).json()["total"] == 0


@pytest.mark.parametrize("flow_id", ["a%2Fb", "a%20b", "%D8%AF", "%00", "..", "a" * 65])
async def test_odd_ids(kept: Rest, flow_id: str) -> None:
    """They are no ids of flows, whatever the request and the database."""
    for method in ("GET", "DELETE"):
        assert (await kept.request(method, f"{BASE}/{flow_id}")).status_code in {400, 404, 405}
    answer = await kept.request("PUT", f"{BASE}/{flow_id}", SAY)
    assert answer.status_code in {400, 404, 405}, answer.text


async def test_without_an_engine_nothing_is_stored(served: Any) -> None:
    """A flow that no engine has checked gets 503."""
    for method, path in (("PUT", ONE), ("POST", f"{ONE}/check")):
        status, problem = await served.request(method, path, body=says("one"))
        assert (status, problem["code"]) == (503, "no_engine")
    assert (await served.request("GET", BASE))[1]["total"] == 0


async def test_an_account_has_a_limited_number_of_flows(tmp_path: Path, scene: RpcScene) -> None:
    """One more is 409; versions of those that are there are not limited by it."""
    settings = settings_for(sqlite_url(tmp_path), scene.url, max_documents=1)
    async with run_rest(settings, scene) as rest:
        await put(rest, says("one"))
        refused = await rest.rejected("PUT", f"{BASE}/other", says("two"))
        assert refused == (409, "quota", [])
        await put(rest, says("two"))
        assert (await rest.request("DELETE", ONE)).status_code == 204
        await put(rest, says("two"), f"{BASE}/other")


async def test_an_account_has_a_limited_number_of_bytes(tmp_path: Path, scene: RpcScene) -> None:
    """All versions count, and documents of other kinds: what exceeds it is 409 with the limit."""
    settings = settings_for(sqlite_url(tmp_path), scene.url, max_document_bytes=4_000)
    async with run_rest(settings, scene) as rest:
        await put(rest, says("x" * 3_000))
        api_request = {"url": "https://a.example/", "method": "POST", "json": {"a": "y" * 1_000}}
        for path, body in (
            (ONE, says("y" * 1_000)),
            (f"{BASE}/other", says("y" * 1_000)),
            (f"/srmain/voice/requests/{'a' * 24}", api_request),
        ):
            refused = await rest.request("PUT", path, body)
            problem = refused.json()
            assert (refused.status_code, problem["code"]) == (409, "quota")
            assert [each["path"] for each in problem["errors"]] == [""]
            assert "at most 4000 (SWITCHROOM_MAX_DOCUMENT_BYTES)" in problem["detail"]
        assert (await rest.request("GET", f"{ONE}/versions")).json()["total"] == 1
        assert await at_engine(rest) == says("x" * 3_000)
        limits = (await rest.request("GET", "/srmain/account")).json()["limits"]
        assert limits["maxDocumentBytes"] == 4_000
