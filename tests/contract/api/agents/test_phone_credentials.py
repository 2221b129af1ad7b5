"""Credentials of phones in browsers over HTTP, on both databases, with an engine and a node."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pydantic import SecretStr
from sqlalchemy import delete, update

from api.accounts.store import accounts
from api.auth.key_store import KeyStore, KeyTerms, generate_credentials
from api.auth.key_store import keys as key_table
from api.common.timestamps import parse_ms
from engine.runtime.agents.phone_credentials import MAX_LOGINS, CredentialStore, digests
from engine.runtime.agents.phone_passwords import LOGIN_TIMEOUT_S
from engine.runtime.agents.phone_provisioning import PhoneProvisioning
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.rpc.scene import RpcScene
from tests.harness.runtime.object_pbx import ObjectPbx
from tests.harness.until import until

BASE = "/srmain/voice/agents"
ANN, BOB, OWN = f"{BASE}/ann", f"{BASE}/bob", f"{BASE}/1001"
PHONE = {"endpoint": "PJSIP/acme-ann", "phone": "browser"}
URL = "wss://switchroom.example.com"
LIFE_S = 600
PHONES = {
    "api_phone_url": URL,
    "api_phone_nodes": ("https://10.0.0.11:8088", "https://10.0.0.12:8088"),
    "api_phone_ice_urls": ("stun:stun.example.com", "turn:turn.example.com"),
    "api_phone_turn_secret": SecretStr("of the TURN server"),
    "api_phone_s": LIFE_S,
}


class Served:
    """The REST layer, and the node that its phones log in at."""

    def __init__(self, rest: Rest, pbx: ObjectPbx) -> None:
        self.rest = rest
        self.pbx = pbx

    async def put(self, path: str = ANN, **body: str) -> None:
        """Put an agent or a password."""
        answer = await self.rest.request("PUT", path, body or PHONE)
        assert answer.is_success, answer.text

    async def create(self, path: str = ANN, **more: Any) -> dict[str, Any]:
        """Create credentials, which must succeed."""
        answer = await self.rest.request("POST", f"{path}/phone-credentials", **more)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def rejected(self, path: str = ANN, **more: Any) -> tuple[int, str, list[str]]:
        """Create credentials, which must fail."""
        return await self.rest.rejected("POST", f"{path}/phone-credentials", **more)


@pytest.fixture
async def served(database_url: str, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Served]:
    """Run REST layer and engine, with a node that gets its phones from that."""
    async with AsyncExitStack() as stack:
        pbx = ObjectPbx()
        scene = RpcScene(pbx=pbx)
        await scene.open(stack, tmp_path)
        credentials = CredentialStore(scene.store)
        provisioning = PhoneProvisioning("pbx1", pbx, credentials, clock, interval_s=0.01)
        running = asyncio.create_task(provisioning.run())
        settings = settings_for(database_url, scene.url, **PHONES)
        rest = await stack.enter_async_context(run_rest(settings, scene, clock))
        yield Served(rest, pbx)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def test_a_node_accepts_them(served: Served, clock: ManualClock) -> None:
    """When the response arrives; what it says is what a phone registers with."""
    await served.put()
    found = await served.create()
    username, password = found["username"], found["password"]
    assert username.startswith("acme-ann~")
    assert len(password) >= 32
    assert served.pbx.logins("acme-ann") == ["acme-ann", username]
    stored = served.pbx.objects[f"auth/{username}"]["password_digest"]
    assert stored == ",".join(
        f"{name}:{digest}"
        for name, digest in zip(("MD5", "SHA-256"), digests(username, password), strict=True)
    )
    assert (found["agentId"], found["uri"]) == ("ann", "sip:acme-ann@switchroom.example.com")
    (first, ticket), second = found["urls"][0].split("?ticket="), found["urls"][1]
    assert (first, second) == (f"{URL}/srmain/phones/0", f"{URL}/srmain/phones/1?ticket={ticket}")
    account, key_id = served.rest.services.phone_logins.tickets.verify(ticket) or ("", "")
    assert account == "acme"
    keys = KeyStore(served.rest.services.database, served.rest.services.now_ms)
    assert await keys.get(key_id) is not None
    assert parse_ms(found["expiryTime"]) == clock.now + LIFE_S * 1_000
    stun, turn = found["iceServers"]
    assert stun == {"urls": ["stun:stun.example.com"]}
    assert turn["urls"] == ["turn:turn.example.com"]
    assert turn["username"].endswith(":acme-ann")
    assert turn["credential"]


async def test_several_are_valid_at_once(served: Served) -> None:
    """Also those that all tabs create at the same moment, as when their network is back."""
    await served.put()
    found = await asyncio.gather(*(served.create() for _ in range(MAX_LOGINS)))
    assert {each["username"] for each in found} < set(served.pbx.logins("acme-ann"))


async def test_no_password_is_stored(served: Served) -> None:
    """Neither in the database nor in the engines' store nor at the node: digests only."""
    await served.put()
    found = await served.create()
    document = await served.rest.services.documents.store.get("acme", "phone", "acme-ann")
    kept = [document.body, *(await served.rest.scene.store.phones.all()).values()]
    kept.append(msgspec.json.encode(served.pbx.objects))
    for each in kept:
        assert found["username"].encode() in each
        assert found["password"].encode() not in each


async def test_a_repeated_request(served: Served) -> None:
    """With its key it gets the same credentials again, and no other key gets them."""
    await served.put()
    headers = {"Idempotency-Key": "tab-1"}
    first = await served.create(headers=headers)
    assert await served.create(headers=headers) == first
    assert len(served.pbx.logins("acme-ann")) == 2


async def test_an_agent_creates_its_own(served: Served) -> None:
    """And none of another agent: not with a token, nor with a key of the agent."""
    await served.put()
    await served.put(OWN, endpoint="PJSIP/acme-1001", phone="browser")
    token = await served.rest.token_of("1001")
    assert (await served.create(OWN, token=token))["agentId"] == "1001"
    assert (await served.rejected(token=token))[:2] == (403, "agent")
    assert (await served.rejected(f"{BASE}/none", token=token))[:2] == (403, "agent")


async def test_another_account_finds_no_agent(served: Served) -> None:
    """Also not one of the same id."""
    await served.put()
    theirs = await served.rest.token_of("other", "other")
    assert (await served.rejected(token=theirs))[:2] == (404, "not_found")
    assert "endpoint/acme-ann" not in served.pbx.objects


async def test_a_sip_phone(served: Served) -> None:
    """It has a password, and no credentials."""
    await served.put(endpoint="PJSIP/acme-ann")
    assert (await served.rejected())[:2] == (409, "not_a_browser")


async def test_changes_that_end_credentials(served: Served) -> None:
    """What the phone is, its password, and the agent's deletion; a name does not."""
    await served.put()
    for path, body in (
        (ANN, {"endpoint": "PJSIP/acme-ann"}),
        (f"{ANN}/password", {"password": "a-password-of-the-phone"}),
        (ANN, {"endpoint": "PJSIP/acme-other", "phone": "browser"}),
    ):
        await served.put()
        first = await served.create()
        await served.put(**PHONE, name="Ann")
        second = await served.create()
        assert await logins(served) == [first["username"], second["username"]]
        await served.put(path, **body)
        assert await logins(served) == []
    await served.put()
    await served.create()
    assert (await served.rest.request("DELETE", ANN)).status_code == 204
    assert await logins(served) == []


async def logins(served: Served) -> list[str]:
    """Return the user names in the database."""
    documents = served.rest.services.documents
    found = await documents.store.read("acme", "phone", ["acme-ann"])
    known = await CredentialStore(served.rest.scene.store).read("PJSIP/acme-ann", "acme", "ann")
    at_engine = [each.username for each in known.logins] if known else []
    bodies = [msgspec.json.decode(each.body) for each in found.values()]
    stored = [login["username"] for body in bodies for login in body.get("logins", ())]
    assert stored == at_engine
    return stored


async def test_no_node_has_them(served: Served) -> None:
    """While none is connected that serves browsers, the response says so, to be repeated."""
    for kind in ("endpoint", "aor", "auth"):
        del served.pbx.objects[f"{kind}/browser-template"]
    await served.put()
    began_s = asyncio.get_running_loop().time()
    assert (await served.rejected())[:2] == (503, "phone_not_ready")
    phone = await served.rest.services.documents.store.get("acme", "phone", "acme-ann")
    assert msgspec.json.decode(phone.body).get("logins", []) == []  # it takes no other one's place
    assert asyncio.get_running_loop().time() - began_s >= LOGIN_TIMEOUT_S


async def test_a_server_without_browser_phones(kept: Rest) -> None:
    """It says which setting is missing."""
    answer = await kept.request("PUT", ANN, PHONE)
    assert answer.is_success, answer.text
    refused = await kept.rejected("POST", f"{ANN}/phone-credentials")
    assert refused[:2] == (503, "no_phone_urls")


async def test_credentials_end_with_their_key(served: Served) -> None:
    """Those of a revoked key only; the phone's registrations, which name no login, end, too."""
    await served.put()
    stays = await served.create()
    credentials, rest = generate_credentials(), served.rest
    keys = KeyStore(rest.services.database, rest.services.now_ms)
    key_id = await keys.add("acme", credentials)
    ends = await served.create(token=credentials.api_key)
    assert set(served.pbx.logins("acme-ann")) == {"acme-ann", stays["username"], ends["username"]}
    await rest.services.ended_keys.withdraw()
    assert "DELETE aor/acme-ann" not in served.pbx.changes
    await keys.expire("acme", key_id, rest.services.now_ms())
    await rest.services.ended_keys.withdraw()
    ended = [f"{method}/acme-ann" for method in ("DELETE aor", "PUT aor", "PUT endpoint")]
    await until(lambda: served.pbx.changes[-3:] == ended, what="the end of the registrations")
    assert served.pbx.logins("acme-ann") == ["acme-ann", stays["username"]]
    assert f"auth/{ends['username']}" not in served.pbx.objects
    changes = len(served.pbx.changes)
    await rest.services.ended_keys.withdraw()
    await served.create()
    assert "DELETE aor/acme-ann" not in served.pbx.changes[changes:]


@pytest.mark.parametrize("is_deleted", [False, True])
async def test_a_revoked_key_that_is_still_believed(served: Served, *, is_deleted: bool) -> None:
    """For two seconds a process believes a key that another one has revoked: no login is left."""
    await served.put()
    credentials, rest = generate_credentials(), served.rest
    keys = KeyStore(rest.services.database, rest.services.now_ms)
    key_id = await keys.add("acme", credentials)
    await served.create(token=credentials.api_key)
    if is_deleted:
        await rest.services.database.execute(delete(key_table).where(key_table.c.id == key_id))
    else:
        await keys.expire("acme", key_id, rest.services.now_ms())
    refused = await served.rejected(token=credentials.api_key)
    assert refused[:2] == (401, "unauthenticated")
    assert await logins(served) == []


async def test_a_suspended_account(served: Served) -> None:
    """None of its phones can register any more."""
    await served.put()
    await served.create()
    rest = served.rest
    change = update(accounts).where(accounts.c.id == "acme")
    await rest.services.database.execute(change.values(is_active=False))
    await rest.services.ended_keys.withdraw()
    await until(lambda: served.pbx.logins("acme-ann") == ["acme-ann"], what="the end of the login")
    assert await logins(served) == []


async def test_credentials_of_a_key_that_expires(served: Served, clock: ManualClock) -> None:
    """They say that they end with it, and do."""
    await served.put()
    credentials, rest = generate_credentials(), served.rest
    keys = KeyStore(rest.services.database, rest.services.now_ms)
    terms = KeyTerms(expires_ms=clock.now + 1_000)
    await keys.add("acme", credentials, terms)
    found = await served.create(token=credentials.api_key)
    assert parse_ms(found["expiryTime"]) == clock.now + 1_000
    clock.now += 1_000
    await rest.services.ended_keys.withdraw()
    assert await logins(served) == []
