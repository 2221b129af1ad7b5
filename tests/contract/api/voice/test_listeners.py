"""Listeners over REST."""

import asyncio

import msgspec
import pytest

from engine.store.listeners import FIRST
from tests.harness.api.rest import OTHERS, OURS, Rest
from tests.harness.rpc.conversation import talking
from tests.harness.rpc.scene import CALL, RpcScene
from tests.harness.webhooks.development import allow_listeners
from wire.listeners import ListenerRequest, ListenerResponse

BASE = "/srmain/voice/listeners"


async def offered(rest: Rest, listener: str) -> str:
    """Let an engine offer a request to a listener; return its position."""
    request = ListenerRequest("r1", "POST", "https://a.example/x", {"a": "b"}, "{}", 1)
    body = msgspec.json.encode(request)
    return await rest.scene.store.listeners.offer(listener, "r1", body, 60_000)


@pytest.fixture(autouse=True)
async def _allowed(scene: RpcScene) -> None:
    """Let the numbers of both accounts, and of the calls, be answered by listeners."""
    for number, account in ((OURS, "acme"), (OTHERS, "other"), (CALL["from"], "acme")):
        await allow_listeners(scene.store, number, account)


async def test_a_number_allows_listeners_by_its_route(kept: Rest) -> None:
    """Off by default: a key with `listen` alone gets nothing of a production number."""
    route, body = f"/srmain/voice/numbers/{OURS}/route", {"action": "https://a.example/"}
    for more, is_allowed in (({}, False), ({"allowListeners": True}, True), ({}, False)):
        assert (await kept.request("PUT", route, {**body, **more})).status_code == 200
        if is_allowed:
            made = await kept.post(BASE, number=OURS)
        else:
            problem = await kept.rejected("POST", BASE, {"number": OURS})
            assert problem == (409, "listeners_not_allowed", [])
    problem = await kept.rejected("GET", f"{BASE}/{made['id']}/requests")
    assert problem == (409, "listeners_not_allowed", [])


async def test_a_listener_of_a_number_gets_requests(kept: Rest) -> None:
    """It is listed, polled, answers once, and is deleted; the position of a poll is the next."""
    made = await kept.post(BASE, number=OURS)
    assert (made["number"], made["callId"]) == (OURS, None)
    assert (await kept.request("GET", BASE)).json() == {"data": [made], "total": 1}
    path = f"{BASE}/{made['id']}"
    polling = asyncio.create_task(kept.request("GET", f"{path}/requests"))
    position = await offered(kept, made["id"])
    found = (await polling).json()
    assert found["after"] == position
    assert [each["url"] for each in found["requests"]] == ["https://a.example/x"]
    params = {"after": position, "wait": "0"}
    again = await kept.request("GET", f"{path}/requests", params=params)
    assert again.json() == {"requests": [], "after": position}
    first = await kept.request("GET", f"{path}/requests", params={"after": "", "wait": "0"})
    assert first.json() == found
    response = {"status": 200, "body": "{}"}
    answered = await kept.request("POST", f"{path}/responses/r1", response)
    assert answered.status_code == 204
    stored = await kept.scene.store.listeners.response(made["id"], "r1", 0)
    assert msgspec.json.decode(stored or b"", type=ListenerResponse) == ListenerResponse(body="{}")
    assert await kept.rejected("POST", f"{path}/responses/r1", response) == (409, "not_waiting", [])
    assert (await kept.request("DELETE", path)).status_code == 204
    assert await kept.rejected("DELETE", path) == (404, "not_found", [])
    assert await kept.rejected("GET", f"{path}/requests") == (404, "not_found", [])


async def test_another_account_listens_to_nothing_of_ours(kept: Rest) -> None:
    """Neither to our numbers and calls, nor to what our listeners get."""
    talk = await talking(kept.scene)
    ours = await kept.post(BASE, number=OURS)
    await offered(kept, ours["id"])
    token = await kept.token_of("other", "other")
    for body in ({"number": OURS}, {"callId": talk.call}, {"callId": "3-pbx1-unknown12"}):
        problem = await kept.rejected("POST", BASE, body, token=token)
        assert problem == (404, "not_found", [])
    assert (await kept.request("GET", BASE, token=token)).json() == {"data": [], "total": 0}
    path = f"{BASE}/{ours['id']}"
    for method, address in (
        ("GET", f"{path}/requests"),
        ("POST", f"{path}/responses/r1"),
        ("DELETE", path),
    ):
        assert await kept.rejected(method, address, token=token) == (404, "not_found", [])
    assert await kept.rejected("POST", BASE, {"number": OTHERS}) == (404, "not_found", [])
    made = await kept.request("POST", BASE, {"number": OTHERS}, token=token)
    assert made.status_code == 201
    found = await kept.request("GET", f"{path}/requests", params={"after": FIRST})
    assert len(found.json()["requests"]) == 1


async def test_a_listener_of_a_live_call(rest: Rest) -> None:
    """A number may be spelled otherwise; a call must be live."""
    talk = await talking(rest.scene)
    made = await rest.post(BASE, callId=talk.call)
    assert (made["number"], made["callId"]) == (CALL["from"], talk.call)
    assert (await rest.post(BASE, number=f"00{OURS[1:]}"))["number"] == OURS


async def test_a_newer_listener_replaces_an_earlier_one(rest: Rest) -> None:
    """The earlier one's poll says so."""
    old = await rest.post(BASE, number=OURS)
    await rest.post(BASE, number=OURS)
    problem = await rest.rejected("GET", f"{BASE}/{old['id']}/requests")
    assert problem == (409, "replaced", [])


async def test_bad_input_names_the_field(rest: Rest) -> None:
    """Nothing is started."""
    for body, path in (
        ({"number": OURS, "callId": "x"}, "number"),
        ({"ttlS": 60}, "number"),
        ({"number": OURS, "ttlS": 0}, "ttlS"),
        ({"number": OURS, "more": 1}, "more"),
    ):
        assert await rest.rejected("POST", BASE, body) == (400, "invalid", [path])
    made = await rest.post(BASE, number=OURS)
    for query in ({"wait": "21"}, {"after": "x"}, {"more": "1"}):
        answer = await rest.request("GET", f"{BASE}/{made['id']}/requests", params=query)
        assert answer.status_code == 400
    long = {"body": "x" * 200_000}
    assert (await rest.request("POST", f"{BASE}/{made['id']}/responses/r", long)).status_code in {
        400,
        413,
    }
