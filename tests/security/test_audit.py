"""The audit trail and the log of denied requests (M10)."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
import structlog

from api.audit.trail import AuditEntry, AuditTrail
from api.auth.key_store import KeyStore, KeyTerms, generate_credentials, parse_key_id
from api.db.database import Database
from api.dnc.tokens import DncTokenStore
from api.metrics import Metrics
from api.voice import examples
from tests.harness.api.cli import switchroom
from tests.harness.api.databases import sqlite_url
from tests.harness.api.rest import CUSTOMER, OURS, Rest
from tests.harness.rpc.scene import RpcScene
from tests.harness.until import until

FAILREGEX = r'"address": "(?P<host>[^"]+)".*"event": "request denied"'  # docs/rest.md
UNKNOWN = "unknown"
TOKENS = "POST /auth/get-access-token/{accountId}"


async def new_key(rest: Rest, bundle: str = "owner") -> str:
    """Return a new key of the account, with the scopes of an owner or of another bundle."""
    given = generate_credentials()
    keys = KeyStore(rest.services.database, rest.services.now_ms)
    await keys.add("acme", given, KeyTerms(scopes=(bundle,)))
    return given.api_key


async def trail(rest: Rest, token: str, **query: Any) -> list[dict[str, Any]]:
    """Return the entries; without those of tokens, unless they are asked for."""
    await rest.services.audit.flush()
    answer = await rest.request("GET", "/srmain/audit", token=token, params=query)
    assert answer.status_code == 200, answer.text
    data: list[dict[str, Any]] = answer.json()["data"]
    return [each for each in data if query.get("action") == TOKENS or each["action"] != TOKENS]


async def test_the_trail_names_who_did_what(rest: Rest) -> None:
    """Changes with key, agent, address, object and outcome; not every reading request."""
    owner, agent = await new_key(rest), await rest.token_of("1001")
    await rest.post("/srmain/voice/call", **{"from": OURS, "to": CUSTOMER})
    assert (await rest.request("GET", "/srmain/recordings", token=agent)).status_code == 403
    await rest.request("GET", "/srmain/voice/call-details/0-pbx1-00000000")
    denied, made = await trail(rest, owner)
    assert (made["action"], made["outcome"]) == ("POST /srmain/voice/call", "201")
    assert (made["object"], made["agentId"]) == ("/srmain/voice/call", None)
    assert (denied["action"], denied["outcome"]) == ("GET /srmain/recordings", "403")
    assert denied["agentId"] == "1001"
    for each in (made, denied):
        assert each["actor"].startswith("key:")
        assert each["address"] == "127.0.0.1"
        assert each["requestId"]
        assert each["time"]


async def test_the_trail_is_paged_and_filtered(rest: Rest) -> None:
    """Newest first; by agent, action and key."""
    owner = await new_key(rest)
    for _ in range(3):
        await rest.post("/srmain/voice/call", **{"from": OURS, "to": CUSTOMER})
    assert len(await trail(rest, owner)) == 3
    page = (await rest.request("GET", "/srmain/audit?limit=2", token=owner)).json()
    assert len(page["data"]) == 2
    more = await trail(rest, owner, cursor=page["nextCursor"])
    assert more
    assert len(page["data"] + more) == 3
    assert await trail(rest, owner, agentId="1001") == []
    assert await trail(rest, owner, action="none") == []


async def test_only_owners_read_their_trail(rest: Rest) -> None:
    """The key of an integrator does not; another account's owner sees its own."""
    assert (await rest.rejected("GET", "/srmain/audit"))[:2] == (403, "scope")
    await rest.post("/srmain/voice/call", **{"from": OURS, "to": CUSTOMER})
    given = generate_credentials()
    keys = KeyStore(rest.services.database, rest.services.now_ms)
    await keys.add("other", given, KeyTerms(scopes=("owner",)))
    assert await trail(rest, given.api_key) == []


async def test_denied_requests_are_logged_for_fail2ban(rest: Rest) -> None:
    """With the address; a stranger's are in no row of the database."""
    with structlog.testing.capture_logs() as lines:
        assert (await rest.rejected("GET", "/srmain/cdr", token=UNKNOWN))[0] == 401
    denied = [each for each in lines if each["event"] == "request denied"]
    assert [(each["address"], each["status"]) for each in denied] == [("127.0.0.1", 401)]
    line = structlog.processors.JSONRenderer()(None, "", dict(denied[0]))
    found = re.search(FAILREGEX, str(line))
    assert found is not None
    assert found["host"] == "127.0.0.1"
    owner = await new_key(rest)
    assert await trail(rest, owner) == []


async def test_engines_log_wrong_tokens(scene: RpcScene) -> None:
    """The RPC's token is root over all accounts."""
    with structlog.testing.capture_logs() as lines:
        status, _body = await scene.request("GET", "/calls", headers={"Authorization": "Bearer x"})
    assert status == 401
    assert [each["address"] for each in lines if each["event"] == "request denied"] == ["127.0.0.1"]


async def test_changes_of_settings_over_rpc_are_logged(scene: RpcScene) -> None:
    """Who has the token changes what all accounts may do."""
    with structlog.testing.capture_logs() as lines:
        await scene.request("PUT", "/terms/acme", {})
        await scene.request("GET", "/agents?account=acme")
    found = [each for each in lines if each["event"] == "rpc write"]
    assert [(each["method"], each["path"]) for each in found] == [("PUT", "/rpc/v1/terms/acme")]


async def test_administrators_commands_are_in_the_trail(tmp_path: Path, rest: Rest) -> None:
    """With the name of the user; commands that show something are not."""
    owner = await new_key(rest)
    assert (await switchroom(tmp_path, "account", "region", "acme", "NO"))[0] == 0
    assert (await switchroom(tmp_path, "account", "key", "list", "acme"))[0] == 0
    (entry,) = await trail(rest, owner)
    assert (entry["action"], entry["outcome"]) == ("account region", "done")
    assert entry["object"] == "account region acme NO"
    assert entry["actor"].startswith("user:")


async def test_a_failure_to_write_is_counted(tmp_path: Path) -> None:
    """There is no table: the entry waits, and the metric that alerts goes up."""
    database, metrics = Database(sqlite_url(tmp_path)), Metrics()
    trail = AuditTrail(database, lambda: 0, metrics.audit_failures.inc)
    trail.add(AuditEntry("acme", 0, "key:1", "POST /x", "/x", "201"))
    running = asyncio.create_task(trail.run())

    def is_counted() -> bool:
        return bool(metrics.registry.get_sample_value("switchroom_api_audit_failures_total"))

    await until(is_counted, what="the failure")
    running.cancel()
    await asyncio.wait({running})
    await database.close()


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("hangup", {}),
        ("mute", {"channelId": "c1"}),
        ("dial", {"target": "+4733333333"}),
        ("transfer/cancel", examples.CANCEL),
        ("conference/kick", examples.KICK),
    ],
)
async def test_the_object_is_the_call(rest: Rest, action: str, body: dict[str, str]) -> None:
    """Also where the path does not name it, and whether the call exists or not."""
    call = "0-pbx1-00000000"
    path = f"/srmain/voice/{action}"
    answer = await rest.request("POST", path, {**body, "callId": call})
    found = await trail(rest, await new_key(rest), action=f"POST {path}")
    assert [(each["object"], each["outcome"]) for each in found] == [
        (call, str(answer.status_code))
    ]


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ({"callId": "0-pbx1-00000000"}, "0-pbx1-00000000"),
        ({"callId": 3}, "/srmain/voice/hangup"),
        ({"callId": "0-pbx1-00000000", "x": "x" * 20_000}, "/srmain/voice/hangup"),  # not read
    ],
)
async def test_the_object_of_a_denied_request(
    rest: Rest, body: dict[str, object], target: str
) -> None:
    """It is the call, too, if the request names one."""
    token = await new_key(rest, "read-only")
    assert (await rest.rejected("POST", "/srmain/voice/hangup", body, token=token))[0] == 403
    found = await trail(rest, await new_key(rest), action="POST /srmain/voice/hangup")
    assert [(each["object"], each["outcome"]) for each in found] == [(target, "403")]


async def test_tokens_are_in_the_trail(rest: Rest) -> None:
    """Who got one, with the key; a failed request for one is in the log only."""
    await rest.token_of("acme", agentId="1001")
    body = {"apiKey": rest.credentials["acme"].api_key, "apiSecret": "wrong" * 8}
    assert (await rest.rejected("POST", "/auth/get-access-token/acme", body))[0] == 401
    found = await trail(rest, await new_key(rest), action=TOKENS)
    assert [(each["outcome"], each["agentId"]) for each in found] == [
        ("200", "1001"),
        ("200", None),
    ]
    key_id = parse_key_id(rest.credentials["acme"].api_key)
    assert {each["actor"] for each in found} == {f"key:{key_id}"}


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_changes_of_the_do_not_call_list_are_in_the_trail(rest: Rest, method: str) -> None:
    """With the token's id, and neither its secret nor the number: the trail is kept for ever."""
    token = await DncTokenStore(rest.services.database, rest.services.now_ms).add("acme")
    entry = {"phoneNo": CUSTOMER, "provider": "p"}
    path = f"/srmain/dnc/subscribe/{token}"
    answer = await rest.request(method, path, token="", params=entry)
    assert answer.status_code == 201, answer.text
    (found,) = await trail(
        rest, await new_key(rest), action=f"{method} /srmain/dnc/subscribe/{{token}}"
    )
    token_id = token.split("_")[1]
    assert found["actor"] == f"dnc-token:{token_id}"
    assert found["object"] == f"/srmain/dnc/subscribe/swd_{token_id}_…"
    assert CUSTOMER not in str(found)
