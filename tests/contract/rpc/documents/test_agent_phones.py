"""Whose an agent's endpoint is, also after failures; and which endpoints can have a password."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from engine.ari.request import Reply, Request
from engine.store.errors import StoreDown
from engine.store.phones import RESERVED_MS
from engine.store.versioned_documents import VersionedDocument
from tests.harness.api.manual_clock import ManualClock
from tests.harness.memory_store.versioned_documents import MemoryVersionedDocuments
from tests.harness.rpc.scene import RpcScene
from tests.harness.store.unreliable_memory import UnreliableStore
from wire.documents.versioned import DocumentKind

PHONE = {"endpoint": "PJSIP/1002"}
ANN, BOB = "/agents/acme/ann", "/agents/other/bob"
PASSWORD = {"password": "correct-horse-battery"}
TAKEN = (409, "endpoint_taken")
REFUSED = (200, [0])  # a document that the engine does not accept
DRAFT_PATH = f"{ANN}/password/draft"
AUTH = "asterisk/config/dynamic/res_pjsip/auth/1002"


class FullDocuments(MemoryVersionedDocuments):
    """Documents that are read, and not stored while the store is full."""

    is_full = False

    async def put(
        self, account: str, kind: DocumentKind, documents: Sequence[VersionedDocument]
    ) -> list[int]:
        """Store documents, unless full."""
        if self.is_full:
            raise StoreDown("out of memory")
        return await super().put(account, kind, documents)


class FullScene(RpcScene):
    """An engine's RPC whose store may be full."""

    def __init__(self, clock: ManualClock) -> None:
        store = UnreliableStore(now_ms=clock)
        self.stored = store.documents = FullDocuments(clock)
        super().__init__(store)


@pytest.fixture
def clock() -> ManualClock:
    """Provide the store's clock."""
    return ManualClock()


@pytest.fixture
async def full(clock: ManualClock, tmp_path: Path) -> AsyncIterator[FullScene]:
    """Run an engine's RPC whose store is full."""
    async with AsyncExitStack() as stack:
        scene = FullScene(clock)
        await scene.open(stack, tmp_path)
        scene.stored.is_full = True
        yield scene


async def status_of(scene: RpcScene, method: str, path: str, body: object = None) -> int:
    """Send a request; return the status."""
    return (await scene.request(method, path, body))[0]


async def sent(scene: RpcScene, account: str, agent_id: str, version: int, body: object) -> Any:
    """Send an agent; return the status, and the version that the store then has."""
    each = {"account": account, "kind": "agent", "id": agent_id, "version": version, "body": body}
    status, answer = await scene.request("PATCH", "/documents", {"changes": [each]})
    return status, answer.get("versions")


async def test_an_agent_that_fails_to_be_stored_keeps_its_endpoint(
    full: FullScene, clock: ManualClock
) -> None:
    """The claim stays until it is stored; after a minute another account can have it."""
    assert await sent(full, "acme", "ann", 2, PHONE) == (503, None)
    full.stored.is_full = False
    assert await sent(full, "other", "bob", 2, PHONE) == REFUSED
    clock.now += RESERVED_MS
    assert await sent(full, "other", "bob", 2, PHONE) == (200, [2])
    assert await sent(full, "acme", "ann", 2, PHONE) == REFUSED


async def test_a_checked_agent_has_its_endpoint_for_a_minute(
    full: FullScene, clock: ManualClock
) -> None:
    """Until it is stored; if that fails, another account can have it after that."""
    assert await status_of(full, "POST", f"{ANN}/check", PHONE) == 200
    full.stored.is_full = False
    assert await full.problem("POST", f"{BOB}/check", PHONE) == TAKEN
    assert await sent(full, "other", "bob", 2, PHONE) == REFUSED
    clock.now += RESERVED_MS
    assert await sent(full, "other", "bob", 2, PHONE) == (200, [2])
    assert await full.problem("POST", f"{ANN}/check", PHONE) == TAKEN


async def test_a_claim_that_an_engine_left_behind(full: FullScene, clock: ManualClock) -> None:
    """An engine was killed between the claim and the agent: after a minute it does not count."""
    await full.store.phones.claim("PJSIP/1002", "acme")
    full.stored.is_full = False
    assert await sent(full, "other", "bob", 2, PHONE) == REFUSED
    clock.now += RESERVED_MS
    assert await sent(full, "other", "bob", 2, PHONE) == (200, [2])
    assert await full.store.phones.owner("PJSIP/1002") == "other"


async def test_an_older_document_claims_nothing(scene: RpcScene) -> None:
    """The endpoint that an agent had before the newest change stays free."""
    assert await sent(scene, "acme", "ann", 4, {"endpoint": "PJSIP/1003"}) == (200, [4])
    assert await sent(scene, "acme", "ann", 2, PHONE) == (200, [4])
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
async def test_an_endpoint_in_the_configuration_gets_no_password(
    scene: RpcScene, auth: int, change: int
) -> None:
    """The one in pjsip.conf would stay valid; the error says what is allowed instead."""
    configure(scene, auth=auth, change=change)
    status, problem = await scene.request("POST", DRAFT_PATH, {**PASSWORD, "agent": PHONE})
    assert (status, problem["code"]) == (400, "configured_endpoint")
    (error,) = problem["errors"]
    assert error["path"] == "endpoint"
    assert "such as PJSIP/acme-ann" in error["message"]


@pytest.mark.parametrize(("auth", "change"), [(200, 200), (500, 500), (0, 0)])
async def test_an_endpoint_that_engines_made_gets_a_password(
    scene: RpcScene, auth: int, change: int
) -> None:
    """Also if the store has lost it; and if the node does not say where it comes from."""
    requests = configure(scene, auth=auth, change=change)
    await scene.documents.password("acme", "ann", PHONE, PASSWORD["password"])
    assert all((each.body or {}).get("fields", []) == [] for each in requests)
    requests.clear()
    await scene.documents.password("acme", "ann", PHONE, PASSWORD["password"])
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
    await scene.documents.agent("acme", "ann", BROWSER)
    status, found = await scene.request("GET", f"{LOGINS}?username=1002~tab")
    assert (status, found.get("nodes", [])) == (200, [])
    assert await scene.problem("GET", "/agents/acme/none/phone-credentials") == (404, "not_found")
