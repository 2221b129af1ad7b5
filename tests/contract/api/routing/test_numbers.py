"""`/srmain/voice/numbers` over HTTP, on both databases: what calls to a number run."""

from typing import Any

import msgspec
import pytest

from tests.harness.api.rest import OTHERS, OURS, Rest
from tests.harness.rpc.scene import SAY

BASE = "/srmain/voice/numbers"
ROUTE = f"{BASE}/{OURS}/route"
FLOW = {"start": "a", "nodes": {"a": {"type": "say", "data": {"text": "Hei."}}}}


async def put(rest: Rest, body: object, path: str = ROUTE, **headers: str) -> str:
    """Put a route that must be accepted; return its ETag."""
    answer = await rest.request("PUT", path, body, headers=headers)
    assert answer.status_code == 200, answer.text
    return str(answer.headers["ETag"])


async def at_engine(rest: Rest) -> Any:
    """Return the routes that the engine knows."""
    found = await rest.scene.store.routes()
    return {number: msgspec.json.decode(body) for number, body in found.items()}


async def test_a_route_is_put_shown_and_deleted(kept: Rest) -> None:
    """The engine has it with its account; what is shown can be put again."""
    body = {
        "action": SAY,
        "fallback": {"type": "hangup"},
        "customData": {"line": "støtte 支援"},
        "recordCall": True,
        "labels": {"team": "sales"},
        "statusCallbackUrl": "auto-set",
        "answer": False,
    }
    etag = await put(kept, body)
    shown = await kept.request("GET", ROUTE)
    assert (shown.json(), shown.headers["ETag"]) == (body, etag)
    assert await at_engine(kept) == {OURS: {"account": "acme", **body}}
    assert await put(kept, shown.json()) != etag
    assert (await kept.request("DELETE", ROUTE)).status_code == 204
    assert await at_engine(kept) == {}
    assert (await kept.rejected("GET", ROUTE))[:2] == (404, "not_found")
    assert (await kept.rejected("DELETE", ROUTE))[:2] == (404, "not_found")


async def test_a_route_to_a_flow(kept: Rest) -> None:
    """It is shown as it was put; one of another account is 404."""
    await kept.request("PUT", "/srmain/voice/flows/support", FLOW)
    await put(kept, {"flowId": "support"})
    assert (await kept.request("GET", ROUTE)).json() == {"flowId": "support"}
    flow = {"type": "flow", "data": {"flowId": "support"}}
    assert await at_engine(kept) == {OURS: {"account": "acme", "action": flow}}
    await put(kept, {"action": {**flow, "action": SAY}})
    assert (await kept.request("GET", ROUTE)).json() == {"action": {**flow, "action": SAY}}
    theirs = await kept.token_of("other", "other")
    path = f"{BASE}/{OTHERS}/route"
    refused = await kept.rejected("PUT", path, {"flowId": "support"}, token=theirs)
    assert refused == (404, "unknown_flow", ["flowId"])
    refused = await kept.rejected("PUT", path, {"action": flow}, token=theirs)
    assert refused == (404, "unknown_flow", ["action.data.flowId"])
    refused = await kept.rejected("PUT", path, {"action": SAY, "fallback": flow}, token=theirs)
    assert refused == (404, "unknown_flow", ["fallback.data.flowId"])
    assert await kept.rejected("GET", path, token=theirs) == (404, "not_found", [])


async def test_numbers_are_listed_with_their_routes(kept: Rest) -> None:
    """In ascending order, also those without a route; each account sees its own."""
    for number in ("+4721930009", "+4721930005"):
        await kept.services.accounts.add_number("acme", number)
    etag = await put(kept, {"action": SAY})
    page = (await kept.request("GET", BASE)).json()
    assert [each["number"] for each in page["data"]] == [OURS, "+4721930005", "+4721930009"]
    assert page["data"][0]["route"] == {"action": SAY}
    assert f'"{page["data"][0]["version"]}"' == etag
    assert page["data"][1] == {
        "number": "+4721930005", "route": None, "version": None, "changedTime": None,
    }  # fmt: skip
    second = (await kept.request("GET", f"{BASE}?limit=1&offset=1")).json()
    assert second == {"data": [page["data"][1]], "total": 3, "limit": 1, "offset": 1}
    theirs = await kept.token_of("other", "other")
    listed = (await kept.request("GET", BASE, token=theirs)).json()
    assert [(each["number"], each["route"]) for each in listed["data"]] == [(OTHERS, None)]
    assert (await kept.request("GET", f"{BASE}/{OURS}")).json() == page["data"][0]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_numbers_of_others_do_not_exist(kept: Rest, method: str) -> None:
    """Nor do those that are no number's, in any script."""
    theirs = await kept.token_of("other", "other")
    answer = await kept.request("PUT", f"{BASE}/{OTHERS}/route", {"action": SAY}, token=theirs)
    assert answer.status_code == 200
    body = {"action": SAY} if method == "PUT" else None
    for number in (OTHERS, "+4799999999", "*", "sales", "%D9%A7%D9%A2", "%00", "x" * 64):
        refused = await kept.rejected(method, f"{BASE}/{number}/route", body)
        assert refused[:2] == (404, "not_found"), number
        if method == "GET":
            assert (await kept.rejected("GET", f"{BASE}/{number}"))[0] == 404
    assert set(await at_engine(kept)) == {OTHERS}


async def test_of_two_writers_the_second_gets_412(kept: Rest) -> None:
    """Each change needs the version that its writer has read, if it names one."""
    first = await put(kept, {"action": SAY}, **{"If-None-Match": "*"})
    second = await put(kept, {"action": "https://a.example/"}, **{"If-Match": first})
    for method, headers in (
        ("PUT", {"If-Match": first}),
        ("PUT", {"If-None-Match": "*"}),
        ("DELETE", {"If-Match": first}),
    ):
        body = {"action": "https://b.example/"} if method == "PUT" else None
        refused = await kept.rejected(method, ROUTE, body, headers=headers)
        assert refused == (412, "changed_meanwhile", [])
    assert (await kept.request("GET", ROUTE)).json() == {"action": "https://a.example/"}
    headers = {"If-Match": second}
    assert (await kept.request("DELETE", ROUTE, headers=headers)).status_code == 204
    refused = await kept.rejected("PUT", ROUTE, {"action": SAY}, headers=headers)
    assert refused == (412, "changed_meanwhile", [])


async def test_a_rejected_change_says_what_the_resource_is(kept: Rest) -> None:
    """It has changed, it is there already, or it does not exist."""

    async def detail(**headers: str) -> str:
        answer = await kept.request("PUT", ROUTE, {"action": SAY}, headers=headers)
        return str(answer.json()["detail"])

    assert "does not exist" in await detail(**{"If-Match": '"17"'})
    await put(kept, {"action": SAY})
    assert "has changed since it was read" in await detail(**{"If-Match": '"17"'})
    assert "there is such a resource already" in await detail(**{"If-None-Match": "*"})


async def test_an_action_and_a_flow(kept: Rest) -> None:
    """Either may be given: the error of both is not that of neither."""
    both = await kept.request("PUT", ROUTE, {"action": SAY, "flowId": "support"})
    assert both.json()["detail"] == "action: expected either action or flowId, got both"
    neither = await kept.request("PUT", ROUTE, {})
    assert neither.json()["detail"] == "action: one of action and flowId is required"


async def test_a_number_without_its_country(kept: Rest) -> None:
    """It is not found, and the error says how a number is written."""
    national = await kept.request("GET", f"{BASE}/21930000/route")
    assert national.status_code == 404
    assert "expected it with its country code" in national.json()["detail"]
    theirs = await kept.request("GET", f"{BASE}/+4722222222/route")
    assert theirs.json()["detail"] == "+4722222222 is no number of this account"


async def test_spellings_of_a_number_have_one_route(kept: Rest) -> None:
    """One that an operator has made in another spelling is shown, and replaced."""
    spelled = OURS.removeprefix("+")
    await kept.services.documents.store.put(
        "acme", "route", spelled, b'{"account": "acme", "action": "https://old.example/"}'
    )
    await kept.services.documents.sync.push("acme")
    shown = await kept.request("GET", f"{BASE}/00{spelled}/route")
    assert shown.json() == {"action": "https://old.example/"}
    await put(kept, {"action": SAY}, **{"If-Match": shown.headers["ETag"]})
    assert set(await at_engine(kept)) == {OURS}
    for other in (spelled, f"+{spelled[:4]} {spelled[4:]}", f"+{spelled[:2]}%20{spelled[2:]}"):
        found = await kept.request("GET", f"{BASE}/{other}/route")
        assert found.json() == {"action": SAY}, other


async def test_a_number_that_has_moved_to_another_account(kept: Rest) -> None:
    """Its new account does not see the old route, and replaces it."""
    await put(kept, {"action": "https://old.example/"})
    await kept.services.accounts.remove_number("acme", OURS)
    await kept.services.accounts.add_number("other", OURS)
    theirs = await kept.token_of("other", "other")
    assert (await kept.rejected("GET", ROUTE, token=theirs))[0] == 404
    assert (await kept.rejected("GET", ROUTE))[0] == 404
    answer = await kept.request("PUT", ROUTE, {"action": SAY}, token=theirs)
    assert answer.status_code == 200, answer.text
    assert await at_engine(kept) == {OURS: {"account": "other", "action": SAY}}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "action"),
        ({"action": SAY, "flowId": "support"}, "action"),
        ({"action": {"type": "sing"}}, "action.type"),
        ({"action": "http://example.com/"}, "action"),
        ({"action": {"type": "play", "data": {"audioUrl": "http://x/"}}}, "action.data.audioUrl"),
        ({"flowId": "a/b"}, "flowId"),
        ({"action": SAY, "fallback": "https://x.example/"}, "fallback"),
        ({"action": SAY, "account": "other"}, "account"),
        ({"action": SAY, "statusCallbackUrl": "https://x.example/"}, "statusCallbackUrl"),
        ({"action": SAY, "customData": {"n": 2**70}}, "customData"),
        ({"action": SAY, "labels": {"a b": "c"}}, "labels"),
    ],
)
async def test_bad_input_names_its_field(rest: Rest, body: object, path: str) -> None:
    """Nothing is stored."""
    status, _, paths = await rest.rejected("PUT", ROUTE, body)
    assert (status, paths[0].startswith(path)) == (400, True), paths
    assert (await rest.request("GET", f"{BASE}/{OURS}")).json()["route"] is None


async def test_without_an_engine_nothing_is_stored(served: Any) -> None:
    """A route that no engine has checked gets 503."""
    await served.services.accounts.add_number("acme", OURS)
    status, problem = await served.request("PUT", ROUTE, body={"action": SAY})
    assert (status, problem["code"]) == (503, "no_engine")
    assert (await served.request("GET", f"{BASE}/{OURS}"))[1]["route"] is None
