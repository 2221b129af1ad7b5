"""RPC operations on listeners."""

import asyncio
from typing import Any

import pytest

from engine.rpc.handlers.listeners import MAX_POLLS_OF_ACCOUNT
from engine.store.listeners import FIRST, MAX_LISTENERS
from tests.harness.rpc.conversation import talking
from tests.harness.rpc.scene import RpcScene
from tests.harness.webhooks.development import allow_listeners

NUMBER = {"number": "+4721930000"}
REQUEST = (
    b'{"id":"r1","method":"POST","url":"https://a.example/x","headers":{"a":"b"},'
    b'"body":"{}","untilMs":1}'
)


async def add(scene: RpcScene, body: dict[str, Any] | None = None, account: str = "acme") -> Any:
    await allow_listeners(scene.store, (body or NUMBER)["number"], account)
    status, made = await scene.request("POST", f"/listeners/{account}", body or NUMBER)
    assert status == 201
    return made


async def test_a_listener_is_added_listed_and_deleted(scene: RpcScene) -> None:
    """Other accounts neither see nor end it."""
    made = await add(scene, {"number": "004721930000", "ttlS": 60})
    assert made["untilMs"] - made["createdMs"] == 60_000
    assert made["number"] == "+4721930000"
    assert await scene.request("GET", "/listeners/acme") == (200, {"listeners": [made]})
    assert await scene.request("GET", "/listeners/other") == (200, {"listeners": []})
    for method, path in (
        ("GET", "requests"),
        ("POST", "responses/r1"),
    ):
        status, problem = await scene.request(method, f"/listeners/other/{made['id']}/{path}")
        assert (status, problem["code"]) == (404, "not_found")
    assert (await scene.request("DELETE", f"/listeners/other/{made['id']}"))[0] == 404
    assert (await scene.request("DELETE", f"/listeners/acme/{made['id']}"))[0] == 200
    assert (await scene.request("DELETE", f"/listeners/acme/{made['id']}"))[0] == 404
    assert (await scene.request("GET", f"/listeners/acme/{made['id']}/requests"))[0] == 404


@pytest.mark.parametrize("is_allowed", [None, False])
async def test_a_number_that_does_not_allow_listeners(
    scene: RpcScene, is_allowed: bool | None
) -> None:
    """By default none does; nor does one whose route is of another account."""
    if is_allowed is not None:
        await allow_listeners(scene.store, NUMBER["number"], is_allowed=is_allowed)
    await allow_listeners(scene.store, "+4721930009", "other")
    for number in (NUMBER["number"], "+4721930009"):
        problem = await scene.problem("POST", "/listeners/acme", {"number": number})
        assert problem == (409, "listeners_not_allowed")
    assert (await scene.request("GET", "/listeners/acme"))[1] == {"listeners": []}


async def test_a_number_that_no_longer_allows_listeners(scene: RpcScene) -> None:
    """The listener learns of it, and sends no response."""
    path = f"/listeners/acme/{(await add(scene))['id']}"
    await scene.store.listeners.offer(path.rpartition("/")[2], "r1", b"{}", 60_000)
    await allow_listeners(scene.store, NUMBER["number"], is_allowed=False)
    assert await scene.problem("GET", f"{path}/requests") == (409, "listeners_not_allowed")
    problem = await scene.problem("POST", f"{path}/responses/r1", {"status": 200})
    assert problem == (409, "listeners_not_allowed")


async def test_a_call_has_the_setting_of_its_number(scene: RpcScene) -> None:
    """Whoever names the call instead of the number gets no more."""
    talk = await talking(scene)
    number = (await talk.shown())["from"]
    problem = await scene.problem("POST", "/listeners/acme", {"callId": talk.call})
    assert problem == (409, "listeners_not_allowed")
    await allow_listeners(scene.store, number)
    status, made = await scene.request("POST", "/listeners/acme", {"callId": talk.call})
    assert (status, made["number"], made["callId"]) == (201, number, talk.call)
    problem = await scene.problem("POST", "/listeners/other", {"callId": talk.call})
    assert problem == (404, "not_found")


async def test_requests_are_polled_and_answered(scene: RpcScene) -> None:
    """A request is sent once more for an earlier position; it has one response."""
    path = f"/listeners/acme/{(made := await add(scene))['id']}"
    assert await scene.request("GET", f"{path}/requests?waitMs=1") == (
        200,
        {"requests": [], "after": FIRST},
    )
    position = await scene.store.listeners.offer(made["id"], "r1", REQUEST, 60_000)
    for _ in range(2):
        status, found = await scene.request("GET", f"{path}/requests?waitMs=5000&after={FIRST}")
        assert (status, found["after"]) == (200, position)
        assert [each["id"] for each in found["requests"]] == ["r1"]
    assert (await scene.request("GET", f"{path}/requests?after={position}"))[1]["requests"] == []
    response = {"status": 201, "headers": {"a": "b"}, "body": "æ"}
    assert (await scene.request("POST", f"{path}/responses/r1", response))[0] == 200
    assert await scene.store.listeners.response(made["id"], "r1", 0)
    status, problem = await scene.request("POST", f"{path}/responses/r1", response)
    assert (status, problem["code"]) == (409, "not_waiting")


async def test_a_replaced_listener_learns_of_it(scene: RpcScene) -> None:
    """The newest one of a number has it."""
    old = await add(scene)
    new = await add(scene)
    status, problem = await scene.request("GET", f"/listeners/acme/{old['id']}/requests")
    assert (status, problem["code"]) == (409, "replaced")
    assert (await scene.request("GET", "/listeners/acme"))[1] == {"listeners": [new]}


async def test_bad_input_names_the_field(scene: RpcScene) -> None:
    """Nothing is added."""
    for body, path in (
        ({}, "number"),
        ({**NUMBER, "callId": "3-pbx1-12345678"}, "number"),
        ({"number": "no number"}, "number"),
        ({**NUMBER, "ttlS": 86_401}, "ttlS"),
        ({**NUMBER, "more": 1}, "more"),
    ):
        status, problem = await scene.request("POST", "/listeners/acme", body)
        assert (status, problem["errors"][0]["path"]) == (400, path)
    listener = f"/listeners/acme/{(await add(scene))['id']}"
    for query in ("after=x", "after=1-2-3", "waitMs=5001", "waitMs=-1", "more=1"):
        assert (await scene.request("GET", f"{listener}/requests?{query}"))[0] == 400
    for response in ({"status": 100}, {"status": 600}, {"fault": "bored"}, {"headers": {"": "x"}}):
        assert (await scene.request("POST", f"{listener}/responses/r1", response))[0] == 400


async def test_an_account_has_a_limited_number(scene: RpcScene) -> None:
    """The others of the account must end first."""
    for number in range(MAX_LISTENERS):
        await add(scene, {"number": f"+47219300{number:02}"})
    await allow_listeners(scene.store, "+4799999999")
    status, problem = await scene.request("POST", "/listeners/acme", {"number": "+4799999999"})
    assert (status, problem["code"]) == (429, "too_many_listeners")
    await add(scene, account="other")


async def test_an_account_has_a_limited_number_of_polls(scene: RpcScene) -> None:
    """Each waits at the store; those of other accounts do not count."""
    mine, other = await add(scene), await add(scene, {"number": "+4721930001"}, "other")
    path = f"/listeners/acme/{mine['id']}/requests"
    polls = [
        asyncio.ensure_future(scene.request("GET", f"{path}?waitMs=5000"))
        for _ in range(MAX_POLLS_OF_ACCOUNT + 1)
    ]
    (refused,), waiting = await asyncio.wait(polls, return_when=asyncio.FIRST_COMPLETED)
    assert (refused.result()[0], refused.result()[1]["code"]) == (429, "too_many_polls")
    assert (await scene.request("GET", f"/listeners/other/{other['id']}/requests"))[0] == 200
    await scene.store.listeners.offer(mine["id"], "r1", REQUEST, 60_000)
    assert {(await each)[0] for each in waiting} == {200}
    assert (await scene.request("GET", path))[0] == 200
