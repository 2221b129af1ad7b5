"""Whose an agent's endpoint is, also after failures; and which endpoints can have a password."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from engine.ari.request import Reply, Request
from engine.store.errors import StoreDown
from engine.store.phones import RESERVED_MS
from tests.harness.api.manual_clock import ManualClock
from tests.harness.rpc.scene import RpcScene
from tests.harness.store.unreliable_memory import UnreliableStore

PHONE = {"endpoint": "PJSIP/1002"}
ANN, BOB = "/agents/acme/ann", "/agents/other/bob"
PASSWORD = {"password": "correct-horse-battery"}
TAKEN = (409, "endpoint_taken")
AUTH = "asterisk/config/dynamic/res_pjsip/auth/1002"


class FullStore(UnreliableStore):
    """A store that reads and claims, and stores no agents while it is full."""

    is_full = False

    async def put_agent(self, account: str, agent_id: str, body: bytes | None) -> None:
        """Store an agent, unless full."""
        if self.is_full:
            raise StoreDown("out of memory")
        await super().put_agent(account, agent_id, body)


@pytest.fixture
def clock() -> ManualClock:
    """Provide the store's clock."""
    return ManualClock()


@pytest.fixture
async def full(clock: ManualClock, tmp_path: Path) -> AsyncIterator[RpcScene]:
    """Run an engine's RPC whose store is full."""
    async with AsyncExitStack() as stack:
        store = FullStore(now_ms=clock)
        scene = RpcScene(store)
        await scene.open(stack, tmp_path)
        store.is_full = True
        yield scene
        store.is_full = False


async def status_of(scene: RpcScene, method: str, path: str, body: object = None) -> int:
    """Send a request; return the status."""
    return (await scene.request(method, path, body))[0]


async def test_an_agent_that_cannot_be_stored_has_no_endpoint(full: RpcScene) -> None:
    """Another account can have it at once."""
    assert await full.problem("PUT", ANN, PHONE) == (503, "store_down")
    assert await full.store.phones.owner("PJSIP/1002") is None
    full.store.is_full = False  # type: ignore[attr-defined]  # it is a FullStore
    assert await status_of(full, "PUT", BOB, PHONE) == 200


async def test_an_agent_that_fails_to_be_stored_keeps_its_endpoint(full: RpcScene) -> None:
    """The one that it has, of a document that is stored."""
    full.store.is_full = False  # type: ignore[attr-defined]  # it is a FullStore
    await full.request("PUT", ANN, PHONE)
    full.store.is_full = True  # type: ignore[attr-defined]  # it is a FullStore
    assert await full.problem("PUT", ANN, {**PHONE, "name": "Ann"}) == (503, "store_down")
    assert await full.problem("PUT", BOB, PHONE) == TAKEN


async def test_a_checked_agent_has_its_endpoint_for_a_minute(
    full: RpcScene, clock: ManualClock
) -> None:
    """Until it is stored; if that fails, another account can have it after that."""
    assert await status_of(full, "POST", f"{ANN}/check", PHONE) == 200
    full.store.is_full = False  # type: ignore[attr-defined]  # it is a FullStore
    assert await full.problem("POST", f"{BOB}/check", PHONE) == TAKEN
    assert await full.problem("PUT", BOB, PHONE) == TAKEN
    clock.now += RESERVED_MS
    assert await status_of(full, "PUT", BOB, PHONE) == 200
    assert await full.problem("POST", f"{ANN}/check", PHONE) == TAKEN


async def test_a_claim_that_an_engine_left_behind(full: RpcScene, clock: ManualClock) -> None:
    """An engine was killed between the claim and the agent: after a minute it does not count."""
    await full.store.phones.claim("PJSIP/1002", "acme")
    full.store.is_full = False  # type: ignore[attr-defined]  # it is a FullStore
    assert await full.problem("PUT", BOB, PHONE) == TAKEN
    clock.now += RESERVED_MS
    assert await status_of(full, "PUT", BOB, PHONE) == 200
    assert await full.store.phones.owner("PJSIP/1002") == "other"


@pytest.mark.parametrize("method", ["DELETE", "PUT"])
async def test_no_password_stays_without_its_agent(full: RpcScene, method: str) -> None:
    """An agent that fails to be deleted or moved has none any more: so it can be repeated."""
    full.store.is_full = False  # type: ignore[attr-defined]  # it is a FullStore
    await full.request("PUT", ANN, PHONE)
    await full.request("PUT", f"{ANN}/password", PASSWORD)
    full.store.is_full = True  # type: ignore[attr-defined]  # it is a FullStore
    body = {"endpoint": "PJSIP/1003"} if method == "PUT" else None
    assert await full.problem(method, ANN, body) == (503, "store_down")
    assert await full.store.phones.all() == {}
    full.store.is_full = False  # type: ignore[attr-defined]  # it is a FullStore
    assert await status_of(full, method, ANN, body) == 200
    assert await full.store.phones.owner("PJSIP/1002") is None


async def test_an_older_document_claims_nothing(scene: RpcScene) -> None:
    """The endpoint that an agent had before the newest change stays free."""
    assert await status_of(scene, "PUT", ANN, {"endpoint": "PJSIP/1003"}) == 200
    change = document("agent", "ann", 2, PHONE)
    _, answer = await scene.request("PATCH", "/documents", {"changes": [change]})
    assert answer["versions"][0] > 2
    assert await scene.store.phones.owner("PJSIP/1002") is None


def configure(scene: RpcScene, *, auth: int, change: int) -> list[Request]:
    """Let the node have the endpoint 1002; return the requests that follow.

    `auth` is the status of its auth object, `change` that of a change.
    """
    requests = list[Request]()

    def on_ask(request: Request) -> None:
        requests.append(request)
        status = auth if request.method == "GET" else change
        scene.pbx.shows[AUTH] = Reply(status, b"[]")

    scene.pbx.on_ask = on_ask
    scene.pbx.shows["endpoints/PJSIP/1002"] = Reply(200, b"{}")
    return requests


@pytest.mark.parametrize(("auth", "change"), [(200, 403), (404, 200)])
@pytest.mark.parametrize("path", ["password", "password/draft"])
async def test_an_endpoint_in_the_configuration_gets_no_password(
    scene: RpcScene, path: str, auth: int, change: int
) -> None:
    """The one in pjsip.conf would stay valid; the error says what is allowed instead."""
    configure(scene, auth=auth, change=change)
    await scene.request("PUT", ANN, PHONE)
    body: dict[str, Any] = {**PASSWORD, "agent": PHONE} if "draft" in path else PASSWORD
    method = "POST" if "draft" in path else "PUT"
    status, problem = await scene.request(method, f"{ANN}/{path}", body)
    assert (status, problem["code"]) == (400, "configured_endpoint")
    (error,) = problem["errors"]
    assert error["path"] == "endpoint"
    assert "such as PJSIP/acme-ann" in error["message"]
    assert await scene.store.phones.all() == {}


@pytest.mark.parametrize(("auth", "change"), [(200, 200), (500, 500), (0, 0)])
async def test_an_endpoint_that_engines_made_gets_a_password(
    scene: RpcScene, auth: int, change: int
) -> None:
    """Also if the store has lost it; and if the node does not say where it comes from."""
    requests = configure(scene, auth=auth, change=change)
    await scene.request("PUT", ANN, PHONE)
    assert await status_of(scene, "PUT", f"{ANN}/password", PASSWORD) == 200
    assert all((each.body or {}).get("fields", []) == [] for each in requests)
    requests.clear()
    assert await status_of(scene, "PUT", f"{ANN}/password", PASSWORD) == 200
    assert requests == []  # the store knows it


async def test_a_drafted_password(scene: RpcScene) -> None:
    """It is a document for the REST layer, and nothing is stored."""
    draft = {**PASSWORD, "agent": {**PHONE, "name": "Ann"}}
    status, found = await scene.request("POST", f"{ANN}/password/draft", draft)
    assert (status, found["id"]) == (200, "1002")
    document = found["document"]
    assert (document["account"], document["agent_id"], document["name"]) == ("acme", "ann", "Ann")
    assert {"md5", "sha256"} <= document.keys()
    assert await scene.store.phones.all() == {}


async def test_a_late_move_deletes_no_newer_password(full: RpcScene, clock: ManualClock) -> None:
    """One agent has left the endpoint, and another one has it since: engines hear of it later."""
    full.store.is_full = False  # type: ignore[attr-defined]  # it is a FullStore
    await full.request("PUT", ANN, PHONE)
    await full.request("PUT", f"{ANN}/password", PASSWORD)
    since = clock.now + 1_000
    clock.now += 60_000
    moved = document("agent", "ann", since, {"endpoint": "PJSIP/1003"})
    follower = document("agent", "carl", since + 2, PHONE)
    await full.request("PATCH", "/documents", {"changes": [moved, follower]})
    assert await full.store.phones.all() == {}
    credentials = {"account": "acme", "agent_id": "carl", "md5": "x", "sha256": "y"}
    phone = document("phone", "1002", since + 4, credentials)
    await full.request("PATCH", "/documents", {"changes": [phone]})
    assert (await full.store.phones.all()).keys() == {"1002"}


def document(kind: str, doc_id: str, version: int, body: dict[str, str]) -> dict[str, Any]:
    """Return the change of a document of acme."""
    return {"account": "acme", "kind": kind, "id": doc_id, "version": version, "body": body}


BROWSER = {**PHONE, "phone": "browser"}
DRAFT = {
    "agent": BROWSER,
    "username": "1002~tab",
    "password": PASSWORD["password"],
    "expiresMs": 4_000_000_000_000,
    "known": None,
}
LOGINS = f"{ANN}/phone-credentials"


async def test_a_login_is_drafted(scene: RpcScene) -> None:
    """With a password of the phone that is known to no one, and with the logins before it."""
    status, first = await scene.request("POST", f"{LOGINS}/draft", DRAFT)
    assert (status, first["id"]) == (200, "1002")
    document = first["document"]
    assert [each["username"] for each in document["logins"]] == ["1002~tab"]
    assert document["md5"]
    again = {**DRAFT, "username": "1002~other", "known": document}
    _, second = await scene.request("POST", f"{LOGINS}/draft", again)
    assert second["document"]["md5"] == document["md5"]
    assert [each["username"] for each in second["document"]["logins"]] == ["1002~tab", "1002~other"]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"agent": PHONE}, "agent.phone"),
        ({"username": "1003~tab"}, "username"),
        ({"username": "1002"}, "username"),
    ],
)
async def test_a_login_that_is_none(scene: RpcScene, change: dict[str, Any], path: str) -> None:
    """Of a SIP phone, or with the name of another endpoint."""
    status, answer = await scene.request("POST", f"{LOGINS}/draft", {**DRAFT, **change})
    assert (status, [each["path"] for each in answer["errors"]]) == (400, [path])


async def test_another_agents_login_is_not_kept(scene: RpcScene) -> None:
    """What another agent's phone had is no part of the next one's."""
    _, first = await scene.request("POST", f"{LOGINS}/draft", DRAFT)
    path = "/agents/acme/bob/phone-credentials/draft"
    _, second = await scene.request(
        "POST", path, {**DRAFT, "username": "1002~bob", "known": first["document"]}
    )
    assert [each["username"] for each in second["document"]["logins"]] == ["1002~bob"]
    assert second["document"]["md5"] != first["document"]["md5"]


async def test_the_nodes_of_a_login(scene: RpcScene) -> None:
    """None for an agent without credentials; an agent that there is not is not found."""
    await scene.request("PUT", ANN, BROWSER)
    status, found = await scene.request("GET", f"{LOGINS}?username=1002~tab")
    assert (status, found.get("nodes", [])) == (200, [])
    assert await scene.problem("GET", "/agents/acme/none/phone-credentials") == (404, "not_found")
