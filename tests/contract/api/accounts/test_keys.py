"""API keys over REST: an account manages its own, and none grants more than its maker has."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from api.auth.key_store import KeyStore, KeyTerms, generate_credentials, parse_key_id
from api.common.errors import NotFound
from api.http.idempotency import responses
from tests.harness.api.databases import sqlite_url
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.rpc.scene import RpcScene
from tests.harness.until import until

KEYS = "/srmain/keys"


async def token(rest: Rest, *scopes: str, account: str = "acme", agent: str | None = None) -> str:
    """Return a key with scopes, which is accepted as a token."""
    made = generate_credentials()
    keys = KeyStore(rest.services.database, rest.services.now_ms)
    await keys.add(account, made, KeyTerms(agent, scopes))
    return made.api_key


@pytest.fixture
async def owner(rest: Rest) -> str:
    """Provide a token of the account's owner."""
    return await token(rest, "owner")


async def created(rest: Rest, owner: str, **body: Any) -> Any:
    """Create a key that must be accepted."""
    answer = await rest.request("POST", KEYS, body, token=owner)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def listed(rest: Rest, owner: str) -> dict[str, Any]:
    """Return the keys of an account, by id."""
    answer = await rest.request("GET", KEYS, token=owner)
    assert answer.status_code == 200, answer.text
    page = answer.json()
    assert page["total"] == len(page["data"])
    return {each["id"]: each for each in page["data"]}


async def status(rest: Rest, key: str, path: str = KEYS) -> int:
    """Return the status of a request with a key as token."""
    return (await rest.request("GET", path, token=key)).status_code


async def test_a_key_is_created_listed_and_revoked(rest: Rest, owner: str) -> None:
    """The secret is in the first response only, and a revoked key is still listed."""
    made = await created(rest, owner, scopes=["read-only"], networks=["127.0.0.0/8"], days=90)
    body = {"apiKey": made["apiKey"], "apiSecret": made["apiSecret"]}
    granted = await rest.client.post("/auth/get-access-token/acme", json=body)
    assert granted.status_code == 200
    shown = (await listed(rest, owner))[made["id"]]
    assert (shown["scopes"], shown["networks"]) == (["read-only"], ["127.0.0.0/8"])
    assert (shown["agentId"], shown["isExpired"]) == (None, False)
    assert shown["createdTime"] < shown["expiryTime"]
    assert made["apiSecret"] not in str(shown)
    revoked = await rest.request("DELETE", f"{KEYS}/{made['id']}", token=owner)
    assert revoked.json()["isExpired"]
    assert (await listed(rest, owner))[made["id"]]["isExpired"]

    async def is_refused() -> bool:
        answer = await rest.client.post("/auth/get-access-token/acme", json=body)
        return answer.status_code == 401

    await until(is_refused, what="the revoked key to be refused")


async def test_a_new_key_has_the_rights_of_an_integration(rest: Rest, owner: str) -> None:
    """Without scopes; of an agent's key, those of an agent. It does not expire."""
    plain, agents = await created(rest, owner), await created(rest, owner, agentId="1001")
    found = await listed(rest, owner)
    assert found[plain["id"]]["scopes"] == ["integrator"]
    assert (found[agents["id"]]["scopes"], found[agents["id"]]["agentId"]) == (["agent"], "1001")
    assert found[plain["id"]]["expiryTime"] is None
    assert await status(rest, plain["apiKey"], "/srmain/msgapp-numbers") == 200
    assert await status(rest, plain["apiKey"]) == 403


async def test_a_key_is_rotated(rest: Rest, owner: str) -> None:
    """The new one has its rights; the old one expires after the overlap, here at once."""
    made = await created(rest, owner, scopes=["numbers:read"], days=5)
    answer = await rest.request("POST", f"{KEYS}/{made['id']}/rotate", {"overlapS": 0}, token=owner)
    assert answer.status_code == 201, answer.text
    new, found = answer.json(), await listed(rest, owner)
    assert found[made["id"]]["isExpired"]
    assert found[new["id"]]["scopes"] == ["numbers:read"]
    assert found[new["id"]]["expiryTime"] > found[new["id"]]["createdTime"]
    assert await status(rest, new["apiKey"], "/srmain/msgapp-numbers") == 200
    again = await rest.rejected("POST", f"{KEYS}/{made['id']}/rotate", {}, token=owner)
    assert again[0] == 409


async def test_a_rotated_key_expires_after_the_overlap(scene: RpcScene, tmp_path: Path) -> None:
    """It lasts exactly so long, whether or not its replacement is used."""
    clock = ManualClock()
    async with run_rest(settings_for(sqlite_url(tmp_path), scene.url), scene, clock) as rest:
        old = await token(rest, "owner")
        key_id = parse_key_id(old)
        assert key_id is not None
        path, began_ms = f"{KEYS}/{key_id}/rotate", clock.now
        answer = await rest.request("POST", path, {"overlapS": 600}, token=old)
        assert answer.status_code == 201, answer.text
        found = await KeyStore(rest.services.database, clock).get(key_id)
        assert found is not None
        assert found.expires_ms == began_ms + 600_000
        clock.now = began_ms + 599_999
        assert await status(rest, old) == 200
        clock.now = began_ms + 602_000  # a process may know a key for two seconds
        assert await status(rest, old) == 401


async def test_no_key_grants_more_than_its_maker_has(rest: Rest, owner: str) -> None:
    """Neither by a new key nor by rotating one with more rights."""
    maker = await token(rest, "keys", "cdr")
    assert (await created(rest, maker, scopes=["cdr:own"]))["id"]
    for scopes in (["owner"], ["cdr", "contacts:read"], []):
        refused = await rest.rejected("POST", KEYS, {"scopes": scopes}, token=maker)
        assert refused[:2] == (403, "scope")
    more = await created(rest, owner, scopes=["contacts:read"])
    refused = await rest.rejected("POST", f"{KEYS}/{more['id']}/rotate", {}, token=maker)
    assert refused[:2] == (403, "scope")


async def test_agents_manage_no_keys(rest: Rest) -> None:
    """Even with the scope: the new key would not be bound to the agent."""
    agents = await token(rest, "owner", agent="1001")
    for method, path, body in (
        ("GET", KEYS, None),
        ("POST", KEYS, {}),
        ("POST", f"{KEYS}/000000000000/rotate", {}),
        ("DELETE", f"{KEYS}/000000000000", None),
    ):
        assert (await rest.rejected(method, path, body, token=agents))[:2] == (403, "agent")


async def test_another_accounts_keys_are_not_found(rest: Rest, owner: str) -> None:
    """They are neither listed nor changed."""
    stranger = await token(rest, "owner", account="other")
    made = await created(rest, owner)
    assert made["id"] not in await listed(rest, stranger)
    for method, path, body in (
        ("POST", f"{KEYS}/{made['id']}/rotate", {}),
        ("DELETE", f"{KEYS}/{made['id']}", None),
        ("DELETE", f"{KEYS}/%00", None),
    ):
        assert (await rest.rejected(method, path, body, token=stranger))[0] == 404
    assert not (await listed(rest, owner))[made["id"]]["isExpired"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"scopes": ["cdr", "everything"]}, "scopes[1]"),
        ({"networks": ["192.0.2.0/24", "home"]}, "networks[1]"),
        ({"networks": ["192.0.2.1/24"]}, "networks[0]"),
        ({"days": 0}, "days"),
        ({"days": 3_651}, "days"),
        ({"agentId": "not a name!"}, "agentId"),
        ({"expires": "never"}, "expires"),
    ],
)
async def test_bad_keys_are_rejected(
    rest: Rest, owner: str, body: dict[str, Any], field: str
) -> None:
    """The error names the field; nothing is created."""
    before = await listed(rest, owner)
    status_code, _, fields = await rest.rejected("POST", KEYS, body, token=owner)
    assert (status_code, fields) == (400, [field])
    assert await listed(rest, owner) == before


async def test_an_account_has_a_limited_number_of_keys(tmp_path: Path, scene: RpcScene) -> None:
    """One more is 409, also by rotation; a revoked key makes room."""
    settings = settings_for(sqlite_url(tmp_path), scene.url, max_keys=4)
    async with run_rest(settings, scene) as rest:
        owner = await token(rest, "owner")  # beside those of acme and its agent
        made = await created(rest, owner)
        for path in (KEYS, f"{KEYS}/{made['id']}/rotate"):
            answer = await rest.request("POST", path, {"days": 1}, token=owner)
            assert (answer.status_code, answer.json()["code"]) == (409, "too_many_keys")
        await rest.request("DELETE", f"{KEYS}/{made['id']}", token=owner)
        await created(rest, owner)


async def test_a_key_for_networks_makes_none_for_others(rest: Rest, owner: str) -> None:
    """Neither a new one, nor a replacement of one that any network may use."""
    inside = {"scopes": ["owner"], "networks": ["127.0.0.0/8"]}
    limited = (await created(rest, owner, **inside))["apiKey"]
    free = (await created(rest, owner))["id"]
    for networks in ([], ["126.0.0.0/7"], ["127.0.0.1/32", "192.0.2.0/24"], ["::1/128"]):
        body = {"networks": networks}
        assert (await rest.rejected("POST", KEYS, body, token=limited))[:2] == (403, "networks")
    refused = await rest.rejected("POST", f"{KEYS}/{free}/rotate", {}, token=limited)
    assert refused[:2] == (403, "networks")
    narrow = await created(rest, limited, networks=["127.0.0.1/32"])
    assert await status(rest, narrow["apiKey"], "/srmain/voice/flows") == 200
    rotated = await rest.request("POST", f"{KEYS}/{narrow['id']}/rotate", {}, token=limited)
    assert rotated.status_code == 201, rotated.text


async def test_a_key_makes_none_that_outlives_it(rest: Rest, owner: str) -> None:
    """Neither a new one, nor a replacement, of itself or of one that does not expire."""
    short = await created(rest, owner, scopes=["owner"], days=10)
    lasting = (await created(rest, owner))["id"]
    for path, body in (
        (KEYS, {}),
        (KEYS, {"days": 11}),
        (f"{KEYS}/{lasting}/rotate", {}),
        (f"{KEYS}/{short['id']}/rotate", {"days": 11}),
    ):
        answer = await rest.request("POST", path, body, token=short["apiKey"])
        assert (answer.status_code, answer.json()["code"]) == (403, "expiry"), body
        assert answer.json()["detail"].startswith("days: ")
    assert "at most 9" in answer.json()["detail"]
    body = {"apiKey": short["apiKey"], "apiSecret": short["apiSecret"]}
    granted = await rest.client.post("/auth/get-access-token/acme", json=body)
    token = granted.json()["accessToken"]
    assert (await rest.rejected("POST", KEYS, {}, token=token))[:2] == (403, "expiry")
    made = await created(rest, short["apiKey"], days=9)
    for path, body in (
        (f"{KEYS}/{lasting}/rotate", {"days": 9}),
        (f"{KEYS}/{made['id']}/rotate", {}),
    ):
        answer = await rest.request("POST", path, body, token=short["apiKey"])
        assert answer.status_code == 201, answer.text
    own = await rest.request("POST", f"{KEYS}/{short['id']}/rotate", {}, token=short["apiKey"])
    assert own.status_code == 201, own.text


@pytest.mark.parametrize("of", ["create", "rotate"])
async def test_a_repeated_request_gets_the_secret_again(kept: Rest, of: str) -> None:
    """Of the key that made it: one with fewer rights does not get what it could not make.

    The database does not have the secret in readable form.
    """
    owner = await token(kept, "owner")
    path = KEYS if of == "create" else f"{KEYS}/{(await created(kept, owner))['id']}/rotate"
    header, before = {"Idempotency-Key": "key-1"}, len(await listed(kept, owner))
    body = {"scopes": ["owner"]} if of == "create" else {}
    first = await kept.request("POST", path, body, token=owner, headers=header)
    assert first.status_code == 201, first.text
    again = await kept.request("POST", path, body, token=owner, headers=header)
    assert (again.status_code, again.json()) == (201, first.json())
    assert len(await listed(kept, owner)) == before + 1
    other = await kept.rejected("POST", path, {"days": 7}, token=owner, headers=header)
    assert other[:2] == (400, "idempotency_key_reused")
    less = await token(kept, "keys")
    refused = await kept.rejected("POST", path, body, token=less, headers=header)
    assert refused[:2] == (403, "scope")
    made = first.json()
    for stored in await kept.services.database.rows(select(responses)):
        assert not any(made[name] in str(stored) for name in ("apiSecret", "apiKey"))


async def test_the_store_rotates_no_key_of_another_account(rest: Rest, owner: str) -> None:
    """Whatever a service has checked before."""
    made = await created(rest, owner)
    keys = KeyStore(rest.services.database, rest.services.now_ms)
    before = [each.id for each in await keys.all("other")]
    with pytest.raises(NotFound):
        await keys.rotate("other", made["id"], generate_credentials(), 0)
    assert [each.id for each in await keys.all("other")] == before
    assert not (await listed(rest, owner))[made["id"]]["isExpired"]
