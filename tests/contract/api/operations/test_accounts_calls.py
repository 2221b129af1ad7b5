"""What an operator sees and does in other accounts, and that no other key can."""

import pytest

from tests.contract.api.operations.keys import key
from tests.harness.api.rest import Rest
from tests.harness.rpc.scene import CALL

BASE = "/srmain/operations"
AS_ACME = {"Switchroom-Account": "acme"}


@pytest.fixture
async def operator(kept: Rest) -> str:
    """Provide the key of an operator who may also control calls; its account has none."""
    return await key(kept, ["owner", "operations"], account="other")


async def test_the_number_of_slots_is_changed(kept: Rest, operator: str) -> None:
    """It is that of the cluster; one that is out of range is rejected."""
    path = f"{BASE}/slots"
    before = (await kept.request("GET", path, token=operator)).json()
    changed = (await kept.request("PUT", path, {"slots": 1}, token=operator)).json()
    assert (before["slots"], changed["highest"]) == (2, 2)
    rejected = await kept.rejected("PUT", path, {"slots": 0}, token=operator)
    assert rejected == (400, "invalid", ["slots"])


async def test_calls_of_all_accounts(kept: Rest, operator: str) -> None:
    """They are listed with their node, by account and node if these are named, and replayed."""
    call = await kept.scene.start_call()

    async def listed(query: str = "") -> list[tuple[str, str, str]]:
        answer = await kept.request("GET", f"{BASE}/calls{query}", token=operator)
        return [(each["callId"], each["account"], each["node"]) for each in answer.json()["data"]]

    rows = [(call, CALL["account"], "pbx1")]
    assert await listed() == await listed("?account=acme&node=pbx1") == rows
    assert await listed("?account=other") == await listed("?node=pbx9") == []
    replay = await kept.request("GET", f"{BASE}/calls/{call}/replay", token=operator)
    assert (replay.json()["isSame"], replay.json()["isLive"]) == (True, True)
    ended = await kept.request("GET", f"{BASE}/calls/ended?limit=3", token=operator)
    assert ended.json() == {"callIds": []}


async def test_the_scope_of_operations_alone_shows_no_call(kept: Rest) -> None:
    """A key that monitors the installation is none of an account's data."""
    monitor = await key(kept, ["operations"])
    call = await kept.scene.start_call()
    for path in ("calls", "calls/ended", f"calls/{call}/replay"):
        assert (await kept.rejected("GET", f"{BASE}/{path}", token=monitor))[:2] == (403, "scope")
    for path in (f"/srmain/voice/call-details/{call}", "/srmain/account"):
        rejected = await kept.rejected("GET", path, token=monitor, headers=AS_ACME)
        assert rejected[:2] == (403, "scope")


async def test_an_operator_acts_for_an_account(kept: Rest, operator: str) -> None:
    """With the header, a request is one of that account; its audit trail names the key."""
    call = await kept.scene.start_call()
    path = f"/srmain/voice/call-details/{call}"
    assert (await kept.rejected("GET", path, token=operator))[:2] == (404, "not_found")
    shown = await kept.request("GET", path, token=operator, headers=AS_ACME)
    assert (shown.status_code, shown.json()["account"]) == (200, "acme")
    changed = await kept.request(
        "PATCH", "/srmain/account", {"name": "Acme"}, token=operator, headers=AS_ACME
    )
    assert (changed.status_code, changed.json()["id"]) == (200, "acme")
    await kept.services.audit.flush()
    trail = (await kept.request("GET", "/srmain/audit", token=operator, headers=AS_ACME)).json()
    assert f"key:{operator.split('_')[1]}" in {each["actor"] for each in trail["data"]}
    own = (await kept.request("GET", "/srmain/account", token=operator)).json()
    assert own["id"] == "other"


async def test_no_other_key_reaches_another_account(kept: Rest) -> None:
    """Not an owner's, nor an agent's that names the scope; whether the account exists or not."""
    call = await kept.scene.start_call()
    keys = {
        "owner": await key(kept, ["owner"], account="other"),
        "agent's key": await key(kept, ["operations", "calls"], agent="1001", account="other"),
    }
    for who, token in keys.items():
        for account in ("acme", "nobody", ""):
            rejected = await kept.rejected(
                "GET",
                f"/srmain/voice/call-details/{call}",
                token=token,
                headers={"Switchroom-Account": account},
            )
            assert rejected[:2] == (403, "scope"), (who, account)
    own = await kept.request(
        "GET", "/srmain/account", token=keys["owner"], headers={"Switchroom-Account": "other"}
    )
    assert own.json()["id"] == "other"


async def test_an_account_that_does_not_exist(kept: Rest, operator: str) -> None:
    """An operator's request for it is not one of the operator's own account."""
    rejected = await kept.rejected(
        "GET", "/srmain/account", token=operator, headers={"Switchroom-Account": "nobody"}
    )
    assert rejected[:2] == (404, "not_found")
