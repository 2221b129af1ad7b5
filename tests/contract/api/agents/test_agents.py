"""`/srmain/voice/agents` over HTTP, on both databases: directory, presence, phones."""

from typing import Any

import msgspec
import pytest

from api.common.errors import Conflict
from engine.ari.request import Reply
from tests.harness.api.rest import Rest
from tests.harness.rpc.preparation import watched

BASE = "/srmain/voice/agents"
ANN = f"{BASE}/ann"
AGENT = {"endpoint": "PJSIP/1002", "name": "Ann Åse 安", "callerId": "+4721930000"}
OTHER_ANN = {"endpoint": "PJSIP/1002"}
UNKNOWN = {"presence": "unknown", "busy": False, "callId": None, "nodes": []}
PASSWORD = {"password": "correct-horse-battery"}


async def put(rest: Rest, path: str = ANN, body: object = AGENT, **more: Any) -> Any:
    """Put an agent that must be accepted; return the row."""
    answer = await rest.request("PUT", path, body, **more)
    assert answer.status_code == 200, answer.text
    assert answer.headers["ETag"] == f'"{answer.json()["version"]}"'
    return answer.json()


async def at_engine(rest: Rest) -> list[str]:
    """Return the ids of the agents that the engine knows."""
    found = (await rest.scene.request("GET", "/agents?account=acme"))[1]
    return [each["agentId"] for each in found["agents"]]


async def test_an_agent_is_put_shown_and_deleted(kept: Rest) -> None:
    """The engine knows it at once."""
    row = await put(kept)
    assert row == {
        **AGENT, "phone": "sip", "agentId": "ann",
        "version": row["version"], "changedTime": row["changedTime"],
    }  # fmt: skip
    assert (await kept.request("GET", ANN)).json() == row
    assert await at_engine(kept) == ["ann"]
    changed = await put(kept, body={"endpoint": "PJSIP/1003"})
    assert (changed["endpoint"], changed["name"], changed["callerId"]) == ("PJSIP/1003", "", None)
    assert (await kept.request("DELETE", ANN)).status_code == 204
    assert await at_engine(kept) == []
    for method in ("GET", "DELETE"):
        assert (await kept.rejected(method, ANN))[:2] == (404, "not_found")


async def test_presence(kept: Rest) -> None:
    """As the engines know it: of one agent, or of all in a page."""
    await put(kept)
    await put(kept, f"{BASE}/bob", {"endpoint": "PJSIP/1004"})
    assert (await kept.request("GET", f"{ANN}/presence")).json() == UNKNOWN
    async with watched(kept.scene, "pbx1", a1002="online", a1004="offline"):
        state = (await kept.request("GET", f"{ANN}/presence")).json()
        assert (state["presence"], state["nodes"]) == ("online", ["pbx1"])
        page = (await kept.request("GET", f"{BASE}?withPresence=true")).json()
    assert [(each["agentId"], each["state"]["presence"]) for each in page["data"]] == [
        ("ann", "online"), ("bob", "offline"),
    ]  # fmt: skip
    assert (await kept.rejected("GET", f"{BASE}/none/presence"))[:2] == (404, "not_found")
    refused = await kept.rejected("GET", f"{BASE}?withPresence=true&limit=101")
    assert refused == (400, "invalid", ["limit"])


async def test_each_account_sees_its_own(kept: Rest) -> None:
    """And a phone belongs to one account; whose it is, is not said."""
    await put(kept)
    theirs = await kept.token_of("other", "other")
    assert (await kept.request("GET", BASE, token=theirs)).json()["total"] == 0
    for method, path, body in (
        ("GET", ANN, None),
        ("DELETE", ANN, None),
        ("GET", f"{ANN}/presence", None),
        ("PUT", f"{ANN}/password", PASSWORD),
    ):
        refused = await kept.rejected(method, path, body, token=theirs)
        assert refused[:2] == (404, "not_found")
    answer = await kept.request("PUT", ANN, OTHER_ANN, token=theirs)
    assert (answer.status_code, answer.json()["code"]) == (409, "endpoint_taken")
    assert "acme" not in answer.text
    assert (await kept.request("DELETE", ANN)).status_code == 204
    endpoints = kept.services.endpoints
    with pytest.raises(Conflict):
        await endpoints.grant("other", AGENT["endpoint"])
    await endpoints.revoke("acme", AGENT["endpoint"])
    await endpoints.grant("other", AGENT["endpoint"])
    await put(kept, body=OTHER_ANN, token=theirs)
    assert await endpoints.of_account("other") == (AGENT["endpoint"],)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("acme-ann", 200),
        ("acme-4799", 200),
        ("1002", 200),  # granted
        ("1009", 400),
        ("4799887766", 400),
        ("ann", 400),
        ("acme", 400),
        ("acme-", 400),
        ("acme-b-ann", 400),  # of the account acme-b
        ("acmeann", 400),
        ("ACME-ann", 400),
        ("other-ann", 400),
        ("acme-a.ann", 400),
        ("acme.ann", 400),
        ("trunk", 400),
    ],
)
async def test_an_endpoint_has_the_accounts_name_or_is_granted(
    kept: Rest, name: str, status: int
) -> None:
    """So no account takes what the operator has, or what another one will want."""
    answer = await kept.request("PUT", ANN, {"endpoint": f"PJSIP/{name}"})
    code = answer.json().get("code", "")
    assert (answer.status_code, code) == (status, "endpoint_not_granted" if status == 400 else "")


async def test_an_endpoint_in_the_configuration_is_the_operators(kept: Rest) -> None:
    """Also one with the account's name, unless it is granted."""
    kept.scene.pbx.shows["endpoints/PJSIP/acme-door"] = Reply(200, b"{}")
    kept.scene.pbx.shows["asterisk/config/dynamic/res_pjsip/auth/acme-door"] = Reply(404)
    body = {"endpoint": "PJSIP/acme-door"}
    assert (await kept.rejected("PUT", ANN, body))[:2] == (400, "configured_endpoint")
    await kept.services.endpoints.grant("acme", "PJSIP/acme-door")
    assert (await put(kept, body=body))["endpoint"] == "PJSIP/acme-door"


async def test_agents_are_listed(kept: Rest) -> None:
    """By id, with pages."""
    for name in ("c", "a", "b"):
        await put(kept, f"{BASE}/{name}", {"endpoint": f"PJSIP/acme-{name}"})
    page = (await kept.request("GET", BASE)).json()
    assert [each["agentId"] for each in page["data"]] == ["a", "b", "c"]
    second = (await kept.request("GET", f"{BASE}?limit=1&offset=1")).json()
    assert second == {"data": [page["data"][1]], "total": 3, "limit": 1, "offset": 1}


async def test_of_two_writers_the_second_gets_412(kept: Rest) -> None:
    """What the first has written stays."""
    row = await put(kept, headers={"If-None-Match": "*"})
    etag = f'"{row["version"]}"'
    await put(kept, body={**AGENT, "name": "Bea"}, headers={"If-Match": etag})
    for method, body in (("PUT", AGENT), ("DELETE", None)):
        refused = await kept.rejected(method, ANN, body, headers={"If-Match": etag})
        assert refused == (412, "changed_meanwhile", [])
    assert (await kept.request("GET", ANN)).json()["name"] == "Bea"


async def test_a_phone_password(kept: Rest) -> None:
    """Its digests reach the engine, no response shows it, and a deleted agent has none."""
    await put(kept)
    assert (await kept.request("PUT", f"{ANN}/password", PASSWORD)).status_code == 204
    phone = (await kept.scene.store.phones.all())["1002"]
    assert b"md5" in phone
    assert PASSWORD["password"].encode() not in phone
    refused = await kept.rejected("PUT", f"{ANN}/password", {"password": "short"})
    assert refused == (400, "invalid", ["password"])
    refused = await kept.rejected("PUT", f"{BASE}/bob", {"endpoint": "PJSIP/1002"})
    assert refused[:2] == (409, "endpoint_taken")
    assert (await kept.request("DELETE", ANN)).status_code == 204
    assert await kept.scene.store.phones.all() == {}
    assert (await kept.rejected("PUT", f"{ANN}/password", PASSWORD))[0] == 404


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "endpoint"),
        ({"endpoint": "PJSIP/trunk"}, "endpoint"),
        ({"endpoint": "Local/1@from-trunk"}, "endpoint"),
        ({**AGENT, "name": "x" * 129}, "name"),
        ({**AGENT, "callerId": "Ada"}, "callerId"),
        ({**AGENT, "account": "other"}, "account"),
    ],
)
async def test_bad_input_names_its_field(rest: Rest, body: object, path: str) -> None:
    """Nothing is stored."""
    status, _, paths = await rest.rejected("PUT", ANN, body)
    assert (status, paths) == (400, [path])
    assert (await rest.request("GET", BASE)).json()["total"] == 0


async def test_the_caller_id_is_a_number_of_the_account(rest: Rest) -> None:
    """Any spelling of it; another one would be a lie, or another customer's."""
    refused = await rest.rejected("PUT", ANN, {**AGENT, "callerId": "+12025550123"})
    assert refused == (400, "not_your_number", ["callerId"])
    assert (await rest.request("GET", BASE)).json()["total"] == 0
    assert (await put(rest, body={**AGENT, "callerId": "004721930000"}))["callerId"]


async def test_odd_ids(rest: Rest) -> None:
    """Agents have names of letters, digits, _ and -."""
    for odd in ("a%20b", "%D8%AF", "%00", "a" * 64 + "b", "a%0A"):
        refused = await rest.rejected("PUT", f"{BASE}/{odd}", AGENT)
        assert refused[0] == 400, odd
        for method in ("GET", "DELETE"):
            assert (await rest.rejected(method, f"{BASE}/{odd}"))[0] in {400, 404}, odd


async def test_without_an_engine(served: Any) -> None:
    """The directory is shown; a change and presence get 503, and nothing is stored."""
    status, problem = await served.request("PUT", ANN, body={"endpoint": "PJSIP/acme-ann"})
    assert (status, problem["code"]) == (503, "no_engine")
    assert (await served.request("GET", BASE))[1]["total"] == 0


async def test_a_list_without_an_engine(served: Any) -> None:
    """The presence of all agents is unknown; that of one agent is an error."""
    await served.services.documents.store.put("acme", "agent", "ann", msgspec.json.encode(AGENT))
    status, page = await served.request("GET", f"{BASE}?withPresence=true")
    assert status == 200
    (row,) = page["data"]
    assert (row["agentId"], row["state"]) == ("ann", UNKNOWN)
    assert (await served.request("GET", f"{ANN}/presence"))[0] == 503


async def test_an_endpoint_stays_its_accounts_while_engines_have_lost_it(kept: Rest) -> None:
    """Else another account could take the phone, and the agent would be missing ever after."""
    await put(kept)
    other = await kept.token_of("other", "other")
    kept.scene.store.documents.clear()
    rejected = await kept.rejected("PUT", ANN, {**OTHER_ANN, "name": "x"}, token=other)
    assert rejected[:2] == (409, "endpoint_taken")
    await put(kept, body={**AGENT, "name": "Ann"})
    await put(kept, body={"endpoint": "PJSIP/1003"})
    await kept.services.endpoints.revoke("acme", AGENT["endpoint"])
    await kept.services.endpoints.grant("other", AGENT["endpoint"])
    await put(kept, body=OTHER_ANN, token=other)
