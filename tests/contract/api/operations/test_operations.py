"""`/srmain/operations` on both databases: what operators see and do, and no other key."""

import pytest

from tests.contract.api.operations.keys import key
from tests.harness.api.rest import Rest
from tests.harness.rpc.scene import CALL
from wire.cluster import DoctorFinding

BASE = "/srmain/operations"
READS = ("nodes", "slots", "engines", "shards", "store", "media", "alerts", "doctor")
OF_CALLS = ("calls", "calls/ended", "calls/0-pbx1-a/replay")
NODE = f"{BASE}/nodes/pbx1"


@pytest.fixture
async def operator(kept: Rest) -> str:
    """Provide an operator's key, which can do nothing else."""
    return await key(kept, ["operations"], account="other")


async def test_nodes_are_drained_and_allowed_again(kept: Rest, operator: str) -> None:
    """A repetition changes nothing; new calls are rejected meanwhile."""
    listed = (await kept.request("GET", f"{BASE}/nodes", token=operator)).json()
    (node,) = listed["data"]
    assert listed["total"] == 1
    assert (node["name"], node["connected"], node["drained"], node["calls"]) == (
        "pbx1",
        True,
        False,
        0,
    )
    for _ in range(2):
        answer = await kept.request("POST", f"{NODE}/drain", token=operator)
        assert (answer.status_code, answer.json()["drained"]) == (200, True)
    assert await kept.scene.problem("POST", "/calls", CALL) == (503, "node_drained")
    headers = {"Idempotency-Key": "once"}
    for _ in range(2):
        answer = await kept.request("POST", f"{NODE}/undrain", token=operator, headers=headers)
        found = answer.json()
        assert (found["drained"], found["unavailableReason"]) == (False, "")


async def test_an_unknown_node(kept: Rest, operator: str) -> None:
    """It is not found, whatever its name looks like."""
    for name in ("pbx9", "%2e%2e%2fslots", "a b"):
        for action in ("drain", "undrain"):
            path = f"{BASE}/nodes/{name}/{action}"
            rejected = await kept.rejected("POST", path, token=operator)
            assert rejected[:2] == (404, "not_found"), path


async def test_the_installation(kept: Rest, operator: str) -> None:
    """Engines, shards, the store and audio, with every field, and nothing of an account."""
    call = await kept.scene.start_call()
    found = {
        each: (await kept.request("GET", f"{BASE}/{each}", token=operator)).json() for each in READS
    }
    (engine,) = found["engines"]["data"]
    assert (engine["engine"], engine["isResponding"], engine["isReady"]) == ("engine", True, True)
    assert (engine["calls"], engine["faults"], engine["startedTime"]) == (1, [], None)
    assert engine["shards"] == ["pbx1/0", "pbx1/1"]
    shards = found["shards"]["data"]
    assert [(each["shard"], each["engine"]) for each in shards] == [
        ("pbx1/0", "engine"),
        ("pbx1/1", "engine"),
    ]
    assert sum(each["calls"] for each in shards) == 1
    assert not any(each["isPaused"] or each["lagMs"] for each in shards)
    store = found["store"]
    assert (store["isReachable"], store["error"], store["lagEvents"]) == (True, "", {})
    assert store["servers"][0]["kind"] == "memory"
    assert found["media"]["data"][0]["hits"] == 0
    assert not any(secret in str(found) for secret in (call, "acme", "+47"))


async def test_shards_have_pages(kept: Rest, operator: str) -> None:
    """Those without an engine come first: their calls stand still."""
    kept.scene.service.nodes["pbx1"].shards.pop(1)
    path = f"{BASE}/shards?limit=1"
    answer = await kept.request("GET", path, token=operator)
    (shard,) = answer.json()["data"]
    assert (shard["shard"], shard["engine"], answer.json()["total"]) == ("pbx1/1", None, 2)
    assert "offset=1" in answer.headers["Link"]
    assert (await kept.rejected("GET", f"{BASE}/shards?limit=0", token=operator))[:2] == (
        400,
        "invalid",
    )


async def test_a_store_that_is_down(kept: Rest, operator: str) -> None:
    """Its state is the response, not an error."""
    kept.scene.store.down = True
    found = (await kept.request("GET", f"{BASE}/store", token=operator)).json()
    assert (found["isReachable"], found["error"]) == (False, "the store can't be used now")
    kept.scene.store.down = False


async def test_the_doctors_results(kept: Rest, operator: str) -> None:
    """Failures first, each with its code and page."""
    kept.scene.findings = [
        DoctorFinding("OK", "store", "fine"),
        DoctorFinding("FAIL", "pbx1", "away", "start it", "node_unreachable", "https://x/y"),
    ]
    found = (await kept.request("GET", f"{BASE}/doctor", token=operator)).json()
    assert found["checkedTime"]
    assert found["isRunning"] is False
    assert [each["level"] for each in found["findings"]] == ["FAIL", "OK"]
    assert found["findings"][0] == {
        "level": "FAIL",
        "subject": "pbx1",
        "text": "away",
        "advice": "start it",
        "code": "node_unreachable",
        "link": "https://x/y",
    }


async def test_customers_and_agents_are_refused(kept: Rest) -> None:
    """Also an owner, an agent whose key names the scope, and an agent of an operator's key."""
    own = await key(kept, ["owner", "operations"])
    keys = {
        "owner": await key(kept, ["owner"]),
        "second account": await key(kept, ["owner"], account="other"),
        "agent": await kept.token_of("1001"),
        "agent's key": await key(kept, ["operations", "calls"], agent="1001"),
    }
    paths = [("GET", f"{BASE}/{each}") for each in (*READS, *OF_CALLS)]
    paths += [("POST", f"{NODE}/drain"), ("POST", f"{NODE}/undrain")]
    for who, token in keys.items():
        for method, path in paths:
            rejected = await kept.rejected(method, path, token=token)
            assert rejected[:2] == (403, "scope"), (who, path)
    assert kept.scene.service.drained_nodes.nodes == frozenset()
    assert (await kept.request("GET", f"{BASE}/nodes", token=own)).status_code == 200


async def test_no_key_of_an_agent_gets_the_scope(kept: Rest) -> None:
    """It would not work, so it is rejected where it is made."""
    operator = await key(kept, ["owner", "operations"])
    body = {"agentId": "1001", "scopes": ["calls", "operations"]}
    rejected = await kept.rejected("POST", "/srmain/keys", body, token=operator)
    assert rejected == (400, "invalid", ["scopes[1]"])


async def test_only_operators_grant_the_scope(kept: Rest) -> None:
    """A key that manages keys cannot give what it lacks, neither to a new one nor by rotation."""
    owner, operator = await key(kept, ["owner"]), await key(kept, ["owner", "operations"])
    body = {"scopes": ["operations"]}
    rejected = await kept.rejected("POST", "/srmain/keys", body, token=owner)
    assert rejected[:2] == (403, "scope")
    answer = await kept.request("POST", "/srmain/keys", body, token=operator)
    assert answer.status_code == 201
    rotated = f"/srmain/keys/{answer.json()['id']}/rotate"
    assert (await kept.rejected("POST", rotated, {}, token=owner))[:2] == (403, "scope")
    assert (await kept.request("POST", rotated, {}, token=operator)).status_code == 201
