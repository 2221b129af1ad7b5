"""RPC operations on listeners."""

from typing import Any

from engine.store.listeners import FIRST, MAX_LISTENERS
from tests.contract.rpc.harness.bench import Bench

NUMBER = {"number": "+4721930000"}


async def add(bench: Bench, body: dict[str, Any] | None = None, account: str = "acme") -> Any:
    status, made = await bench.request("POST", f"/listeners/{account}", body or NUMBER)
    assert status == 201
    return made


async def test_a_listener_is_added_listed_and_deleted(bench: Bench) -> None:
    """Other accounts neither see nor end it."""
    made = await add(bench, {"number": "004721930000", "ttlS": 60})
    assert made["untilMs"] - made["createdMs"] == 60_000
    assert made["number"] == "+4721930000"
    assert await bench.request("GET", "/listeners/acme") == (200, {"listeners": [made]})
    assert await bench.request("GET", "/listeners/other") == (200, {"listeners": []})
    for method, path in (
        ("GET", "requests"),
        ("POST", "responses/r1"),
    ):
        status, problem = await bench.request(method, f"/listeners/other/{made['id']}/{path}")
        assert (status, problem["code"]) == (404, "not_found")
    assert (await bench.request("DELETE", f"/listeners/other/{made['id']}"))[0] == 404
    assert (await bench.request("DELETE", f"/listeners/acme/{made['id']}"))[0] == 200
    assert (await bench.request("DELETE", f"/listeners/acme/{made['id']}"))[0] == 404
    assert (await bench.request("GET", f"/listeners/acme/{made['id']}/requests"))[0] == 404


async def test_requests_are_polled_and_answered(bench: Bench) -> None:
    """A request is sent once more for an earlier position; it has one response."""
    path = f"/listeners/acme/{(made := await add(bench))['id']}"
    assert await bench.request("GET", f"{path}/requests?waitMs=1") == (
        200,
        {"requests": [], "after": FIRST},
    )
    body = (
        b'{"id":"r1","method":"POST","url":"https://a.example/x","headers":{"a":"b"},'
        b'"body":"{}","untilMs":1}'
    )
    position = await bench.store.listeners.offer(made["id"], "r1", body, 60_000)
    for _ in range(2):
        status, found = await bench.request("GET", f"{path}/requests?waitMs=5000&after={FIRST}")
        assert (status, found["after"]) == (200, position)
        assert [each["id"] for each in found["requests"]] == ["r1"]
    assert (await bench.request("GET", f"{path}/requests?after={position}"))[1]["requests"] == []
    response = {"status": 201, "headers": {"a": "b"}, "body": "æ"}
    assert (await bench.request("POST", f"{path}/responses/r1", response))[0] == 200
    assert await bench.store.listeners.response(made["id"], "r1", 0)
    status, problem = await bench.request("POST", f"{path}/responses/r1", response)
    assert (status, problem["code"]) == (409, "not_waiting")


async def test_a_replaced_listener_learns_of_it(bench: Bench) -> None:
    """The newest one of a number has it."""
    old = await add(bench)
    new = await add(bench)
    status, problem = await bench.request("GET", f"/listeners/acme/{old['id']}/requests")
    assert (status, problem["code"]) == (409, "replaced")
    assert (await bench.request("GET", "/listeners/acme"))[1] == {"listeners": [new]}


async def test_bad_input_names_the_field(bench: Bench) -> None:
    """Nothing is added."""
    for body, path in (
        ({}, "number"),
        ({**NUMBER, "callId": "3-pbx1-12345678"}, "number"),
        ({"number": "no number"}, "number"),
        ({**NUMBER, "ttlS": 86_401}, "ttlS"),
        ({**NUMBER, "more": 1}, "more"),
    ):
        status, problem = await bench.request("POST", "/listeners/acme", body)
        assert (status, problem["errors"][0]["path"]) == (400, path)
    listener = f"/listeners/acme/{(await add(bench))['id']}"
    for query in ("after=x", "after=1-2-3", "waitMs=5001", "waitMs=-1", "more=1"):
        assert (await bench.request("GET", f"{listener}/requests?{query}"))[0] == 400
    for response in ({"status": 100}, {"status": 600}, {"fault": "bored"}, {"headers": {"": "x"}}):
        assert (await bench.request("POST", f"{listener}/responses/r1", response))[0] == 400


async def test_an_account_has_a_limited_number(bench: Bench) -> None:
    """The others of the account must end first."""
    for number in range(MAX_LISTENERS):
        await add(bench, {"number": f"+47219300{number:02}"})
    status, problem = await bench.request("POST", "/listeners/acme", {"number": "+4799999999"})
    assert (status, problem["code"]) == (429, "too_many_listeners")
    await add(bench, account="other")
