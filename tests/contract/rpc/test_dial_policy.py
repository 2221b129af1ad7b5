"""Dial policies over the RPC: stored, listed, and enforced before a dial."""

from typing import Any

import pytest

from engine.calls.model.events import LegAnswered, LegCreated
from tests.harness.rpc.conversation import talking
from tests.harness.rpc.scene import CALL, RpcScene, inject
from tests.harness.until import until

TERMS = {"destinations": ["+47"], "numbers": ["+4721930000"], "version": "v1"}
ABROAD, AT_HOME = "+15550001111", "+4711111111"


async def put(scene: RpcScene, **more: Any) -> None:
    """Put the dial policy of acme."""
    assert (await scene.request("PUT", "/terms/acme", {**TERMS, **more}))[0] == 200


async def listed(scene: RpcScene, *numbers: str) -> None:
    """Put numbers on acme's do-not-call list."""
    await put(scene, doNotCall=True)
    change = {"after": 0, "version": 1, "add": numbers}
    assert await scene.request("PATCH", "/terms/acme/dnc", change) == (200, {"version": 1})


async def fault(scene: RpcScene, path: str, body: object) -> tuple[int, str, str]:
    """Send a request that must fail; return status, code and the named field."""
    status, problem = await scene.request("POST", path, body)
    return status, problem["code"], problem["errors"][0]["path"]


async def test_terms_are_put_and_listed(scene: RpcScene) -> None:
    """The policy and the do-not-call list each have a version."""
    assert await scene.problem("GET", "/terms/acme") == (404, "not_found")
    assert await scene.request("GET", "/terms") == (200, {"accounts": []})
    shown = {"account": "acme", "version": "v1"}
    assert await scene.request("PUT", "/terms/acme", TERMS) == (200, shown)
    assert await scene.request("GET", "/terms/acme") == (200, TERMS)
    change = {"after": 0, "version": 7, "add": [ABROAD], "isWhole": False}
    assert await scene.request("PATCH", "/terms/acme/dnc", change) == (200, {"version": 7})
    assert await scene.request("PATCH", "/terms/acme/dnc", {**change, "after": 6}) == (
        200, {"version": 7},
    )  # fmt: skip
    assert await scene.request("GET", "/terms") == (
        200,
        {"accounts": [{**shown, "listVersion": 7}]},
    )
    assert (await scene.request("DELETE", "/terms/acme/dnc"))[0] == 200
    assert await scene.request("GET", "/terms") == (200, {"accounts": [shown]})


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("PUT", "/terms/a%2Fb", TERMS, "account"),
        ("PUT", "/terms/acme", {"destinations": ["47"]}, "destinations[0]"),
        ("PUT", "/terms/acme", {"numbers": ["Ada"]}, "numbers[0]"),
        ("PUT", "/terms/acme", {"country": "+47"}, "country"),
        ("PUT", "/terms/acme", {"prefixes": ["+47"]}, "prefixes"),
        ("PATCH", "/terms/acme/dnc", {"after": 0}, "version"),
        ("PATCH", "/terms/acme/dnc", {"after": 3, "version": 3}, "version"),
        ("PATCH", "/terms/acme/dnc", {"after": -1, "version": 3}, "after"),
        ("PATCH", "/terms/acme/dnc", {"after": 0, "version": 1, "add": ["4790"]}, "add[0]"),
        ("PATCH", "/terms/acme/dnc", {"after": 0, "version": 1, "add": ["*"]}, "add[0]"),
    ],
)
async def test_bad_terms(scene: RpcScene, method: str, path: str, body: object, field: str) -> None:
    """Each invalid field is named."""
    status, problem = await scene.request(method, path, body)
    assert (status, problem["errors"][0]["path"]) == (400, field)


async def test_a_call_is_refused_by_its_field(scene: RpcScene) -> None:
    """Each party to be dialled is checked; other accounts are not affected."""
    await listed(scene, AT_HOME)
    body: dict[str, object] = {**CALL, "to": ABROAD}
    assert await fault(scene, "/calls", body) == (400, "not_allowed", "to")
    assert await fault(scene, "/calls", CALL) == (400, "do_not_call", "to")
    body = {**CALL, "from": ABROAD, "to": "+4722222222", "fromFirst": True}
    assert await fault(scene, "/calls", body) == (400, "not_allowed", "from")
    assert await fault(scene, "/calls", {**body, "from": AT_HOME, "to": ABROAD}) == (
        400, "do_not_call", "from",
    )  # fmt: skip
    assert (await scene.request("POST", "/calls", {**CALL, "account": "other"}))[0] == 201


async def test_no_one_is_called_by_a_list_that_is_lost(scene: RpcScene) -> None:
    """Calls get 503 with Retry-After while a list exists but is lost."""
    await put(scene, doNotCall=True)
    assert await scene.problem("POST", "/calls", CALL) == (503, "terms_unknown")


async def test_who_is_called_into_a_call_is_refused_by_field(scene: RpcScene) -> None:
    """Dial, transfer and conference check numbers; agents are always allowed."""
    conversation = await talking(scene)
    await listed(scene, AT_HOME)
    base = f"/calls/{conversation.call}"
    assert await fault(scene, f"{base}/dial", {"target": ABROAD}) == (
        400, "not_allowed", "target",
    )  # fmt: skip
    transfer = {
        "transferMode": "blind",
        "customerChannelId": conversation.customer,
        "sourceChannelId": conversation.agent,
        "target": {"kind": "number", "number": AT_HOME},
    }
    assert await fault(scene, f"{base}/transfers", transfer) == (
        400, "do_not_call", "target.number",
    )  # fmt: skip
    member = {"requestedByAgentId": "1001", "targetExternalNumber": ABROAD}
    assert await fault(scene, f"{base}/conference/members", member) == (
        400, "not_allowed", "targetExternalNumber",
    )  # fmt: skip
    await conversation.posted("dial", target="agent:1002")


async def test_a_number_without_a_country_is_called_nowhere(scene: RpcScene) -> None:
    """Calls, dials, transfers and members name the plus sign; costs are not blamed for it."""
    anywhere = {"numbers": ["+4721930000"], "country": "47"}
    assert (await scene.request("PUT", "/terms/acme", anywhere))[0] == 200
    conversation = await talking(scene)
    base, number = f"/calls/{conversation.call}", "4155551234"
    transfer = {
        "transferMode": "blind",
        "customerChannelId": conversation.customer,
        "sourceChannelId": conversation.agent,
        "target": {"kind": "number", "number": number},
    }
    for path, body, field in (
        ("/calls", {**CALL, "to": number}, "to"),
        ("/calls", {**CALL, "from": number, "fromFirst": True}, "from"),
        (f"{base}/dial", {"target": number}, "target"),
        (f"{base}/transfers", transfer, "target.number"),
        (
            f"{base}/conference/members",
            {"requestedByAgentId": "1001", "targetExternalNumber": number},
            "targetExternalNumber",
        ),
    ):
        status, problem = await scene.request("POST", path, body)
        (error,) = problem["errors"]
        assert (status, error["code"], error["path"]) == (400, "number_without_country", field)
        assert error["message"].endswith("a plus sign, such as +4721930000")
    short = await scene.request("POST", "/calls", {**CALL, "to": "222222"})
    assert short[1]["errors"][0]["message"].endswith(
        "(--allow-type high_risk); a number needs its country code and a plus sign,"
        " such as +4721930000"
    )


async def test_a_listed_number_is_that_which_is_dialled(scene: RpcScene) -> None:
    """A trunk prefix behind the country's code belongs to neither."""
    assert (await scene.request("PUT", "/terms/acme", {"doNotCall": True}))[0] == 200
    change = {"after": 0, "version": 1, "add": ["+370861234567"]}
    assert (await scene.request("PATCH", "/terms/acme/dnc", change))[0] == 200
    for to in ("+37061234567", "+370861234567", "00370861234567", "+370 8 612 34567"):
        assert await scene.problem("POST", "/calls", {**CALL, "to": to}) == (400, "do_not_call")


async def test_a_number_with_two_readings_is_called_nowhere(scene: RpcScene) -> None:
    """It may be 2193, which is a carrier's, or 21930000."""
    assert (await scene.request("PUT", "/terms/acme", {"country": "47"}))[0] == 200
    _, problem = await scene.request("POST", "/calls", {**CALL, "to": "2193.0000"})
    assert [each["path"] for each in problem["errors"]] == ["to"]
    assert "a number such as +4721930000" in problem["errors"][0]["message"]


async def test_a_national_number_is_dialled_with_its_country(scene: RpcScene) -> None:
    """A carrier could take 22222222 for Mauritania."""
    anywhere = {"numbers": ["+4721930000"], "country": "47"}
    assert (await scene.request("PUT", "/terms/acme", anywhere))[0] == 200
    await scene.start_call(to="22222222")
    await until(lambda: "POST channels/create" in scene.pbx.lines)
    (created,) = [each for each in scene.pbx.sent if each.line == "POST channels/create"]
    assert "+4722222222" in dict(created.request.query)["endpoint"]


async def test_what_a_tree_dials_is_judged(scene: RpcScene) -> None:
    """A forbidden leg causes no PBX request; the tree continues; the timeline has the reason."""
    await put(scene)
    dial = {"type": "dial", "data": {"number": [ABROAD, "+4722222222"]}}
    call = await scene.start_call(action=dial, to="+4733333333")
    inject(scene, LegCreated(f"{call}.l0"))
    inject(scene, LegAnswered(f"{call}.l0"))

    def legs() -> list[str]:
        scene.pbx.settle()
        return [each for each in scene.pbx.lines if each == "POST channels/create"]

    await until(lambda: len(legs()) == 2)  # the first, and the second number's
    _, shown = await scene.request("GET", f"/calls/{call}")
    assert [leg["party"] for leg in shown["legs"]] == ["+4733333333", "+4722222222"]
    ended: list[dict[str, Any]] = []

    async def is_ended() -> bool:
        _, story = await scene.request("GET", f"/calls/{call}/timeline")
        details = [each["details"] for each in story["rows"]]
        ended[:] = [each for each in details if each["type"] == "leg-ended"]
        return bool(ended)

    await until(is_ended)
    (event,) = ended
    assert (event["leg"], event["cause"], event["reason"]) == (f"{call}.l1", 21, "not_allowed")
