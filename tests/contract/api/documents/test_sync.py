"""The documents of the database and of the engines' store become the same after any loss."""

import msgspec
import pytest
from structlog.testing import capture_logs

from api.documents.document import Kind
from api.documents.plugin import DocumentSlice
from engine.store.versioned_documents import VersionedDocument
from tests.harness.api.rest import OURS, Rest
from wire.documents.versioned import CALLBACK_ID, FlowState

ROUTE = msgspec.json.encode({"account": "acme", "action": "https://x.example/"})
TREE = {"type": "say", "data": {"text": "hello"}}
FLOW = msgspec.json.encode(TREE)
REQUEST = msgspec.json.encode({"url": "https://x.example/", "secrets": {"key": "a secret"}})
AGENT = msgspec.json.encode({"endpoint": "PJSIP/1001"})
NAMED = msgspec.json.encode({"endpoint": "PJSIP/1001", "name": "Ann"})
CALLBACK = msgspec.json.encode(
    {"secret": "whsec_eA==", "made_ms": 1, "target": "https://x.example"}
)
PHONE = msgspec.json.encode({"account": "acme", "agent_id": "1001", "md5": "x", "sha256": "y"})
REQUEST_ID = "0123456789abcdef01234567"
BODIES: dict[Kind, tuple[str, bytes]] = {
    "route": (OURS, ROUTE),
    "request": (REQUEST_ID, REQUEST),
    "agent": ("1001", AGENT),
    "callback": (CALLBACK_ID, CALLBACK),
    "phone": ("1001", PHONE),
}


async def put_all(documents: DocumentSlice) -> None:
    """Store a document of each kind for acme."""
    for kind, (doc_id, body) in BODIES.items():
        await documents.store.put("acme", kind, doc_id, body)
    await documents.flows.put_flow_version("acme", "ivr", FLOW)


async def in_engine(rest: Rest, account: str = "acme") -> dict[str, bytes]:
    """Return what the engines' store has of an account, by kind."""
    found = dict[str, bytes]()
    for kind, (doc_id, _) in BODIES.items():
        bodies = await rest.scene.store.documents.read(account, kind, [doc_id])
        found |= dict.fromkeys([kind] if bodies else [], bodies.get(doc_id, b""))
    flow = await rest.scene.store.flow(account, "ivr")
    return found | ({"flow": flow[1]} if flow else {})


EVERYTHING = {**{kind: body for kind, (_, body) in BODIES.items()}, "flow": FLOW}


async def test_a_change_is_pushed(kept: Rest, documents: DocumentSlice) -> None:
    """Engines have it when the push returns, and its deletion."""
    await documents.sync.push("acme")
    await put_all(documents)
    await documents.sync.push("acme")
    assert await in_engine(kept) == EVERYTHING
    assert await kept.scene.store.phones.owner("PJSIP/1001") == "acme"
    await documents.flows.put_flow_version("acme", "ivr", b'{"2":2}')
    await documents.store.delete("acme", "route", OURS)
    await documents.agents.delete("acme", "agent", "1001")
    await documents.sync.push("acme")
    assert await kept.scene.store.flow("acme", "ivr") == (2, b'{"2":2}')
    assert (await in_engine(kept)).keys() == EVERYTHING.keys() - {"route", "agent", "phone"}
    assert await kept.scene.store.phones.owner("PJSIP/1001") is None


async def test_a_lost_store_is_refilled(kept: Rest, documents: DocumentSlice) -> None:
    """Everything is there again, with the versions of flows that live calls may run."""
    await put_all(documents)
    await documents.flows.put_flow_version("acme", "ivr", b'{"2":2}')
    await documents.flows.put_flow_version("acme", "ivr", b'{"3":3}', publish=False)
    await documents.sync.push("acme")
    kept.scene.store.documents.clear()
    with capture_logs() as logs:
        await documents.sync.compare_next()
    assert await in_engine(kept) == {**EVERYTHING, "flow": b'{"2":2}'}
    assert await kept.scene.store.flow("acme", "ivr", 1) == (1, FLOW)
    assert await kept.scene.store.flow("acme", "ivr", 3) is None
    assert [each["collections"] for each in logs if "missing" in each["event"]] == [6]
    with capture_logs() as logs:
        await documents.sync.compare_next()
    assert logs == []


async def test_other_accounts_stay_in_the_engines_store(
    kept: Rest, documents: DocumentSlice
) -> None:
    """What another writer stores for an account that is not in the database is left alone."""
    store = kept.scene.store
    route = {"account": "unknown", "action": "https://x.example/"}
    await kept.scene.documents.route("+4799", route)
    await kept.scene.documents.agent("unknown", "1001", msgspec.json.decode(AGENT))
    await documents.sync.compare_all()
    assert await store.route("+4799") is not None
    assert await store.agent("unknown", "1001") is not None
    assert await documents.store.owner("route", "+4799") is None


async def test_a_restored_database_replaces_what_is_newer(
    kept: Rest, documents: DocumentSlice
) -> None:
    """The engines' store survived with later documents, and with some that the backup has not."""
    await put_all(documents)
    await documents.sync.push("acme")
    later = 2 * kept.services.now_ms()
    changed = ROUTE.replace(b"x.ex", b"y.ex")
    more: tuple[tuple[Kind, str, bytes], ...] = (
        ("route", OURS, changed),
        ("route", "+4721939999", changed),
        ("agent", "1001", NAMED),
        ("phone", "1002", PHONE),
        ("flow", "ivr", msgspec.json.encode(FlowState(0, 7))),
    )
    for kind, doc_id, body in more:
        await kept.scene.store.documents.put("acme", kind, [VersionedDocument(doc_id, later, body)])
    await documents.sync.compare_account("acme")
    assert await in_engine(kept) == EVERYTHING
    assert (await kept.scene.store.routes()).keys() == {OURS}
    assert (await kept.scene.store.phones.all()).keys() == {"1001"}
    assert (await documents.store.get("acme", "route", OURS)).version > later
    with capture_logs() as logs:
        await documents.sync.compare_account("acme")
    assert logs == []
    assert differences(kept) == 0


async def test_a_document_that_engines_have_deleted_later(
    kept: Rest, documents: DocumentSlice
) -> None:
    """It is stored again all the same: the database has it."""
    await documents.store.put("acme", "route", OURS, ROUTE)
    later = 2 * kept.services.now_ms()
    deletion = VersionedDocument(OURS, later, None)
    await kept.scene.store.documents.put("acme", "route", [deletion])
    for _ in range(3):
        await documents.sync.compare_account("acme")
    assert await kept.scene.store.route(OURS) == ROUTE
    assert differences(kept) == 0


async def test_an_old_snapshot_is_brought_up_to_date(kept: Rest, documents: DocumentSlice) -> None:
    """Documents that were changed or deleted since are changed and deleted in it."""
    old = await documents.store.put("acme", "route", OURS, ROUTE)
    deleted = await documents.store.put("acme", "agent", "1001", AGENT)
    kept_one = await documents.store.put("acme", "agent", "1002", AGENT)
    await documents.sync.push("acme")
    new = await documents.store.put("acme", "route", OURS, ROUTE.replace(b"x.ex", b"y.ex"))
    await documents.store.delete("acme", "agent", "1001")
    await documents.store.put("acme", "request", REQUEST_ID, REQUEST)
    await documents.sync.push("acme")
    kept.scene.store.documents.clear()
    for each in (old, deleted, kept_one):
        restored = [VersionedDocument(each.id, each.version, each.body)]
        await kept.scene.store.documents.put("acme", each.kind, restored)
    await documents.sync.compare_account("acme")
    assert await kept.scene.store.route(OURS) == new.body
    assert list(await kept.scene.store.agents("acme")) == ["1002"]
    assert await kept.scene.store.request("acme", REQUEST_ID) == REQUEST


async def test_a_route_moves_to_another_account(kept: Rest, documents: DocumentSlice) -> None:
    """Whichever account's change arrives first, and if the first one's is sent again."""
    await documents.store.put("acme", "route", OURS, ROUTE)
    await documents.sync.push("acme")
    moved = ROUTE.replace(b"acme", b"other")
    await documents.store.put("other", "route", OURS, moved)
    await documents.sync.push("other")
    await documents.sync.push("acme")
    assert await kept.scene.store.route(OURS) == moved
    await documents.sync.compare_all()
    assert await kept.scene.store.route(OURS) == moved
    assert await documents.store.owner("route", OURS) == "other"
    with capture_logs() as logs:
        await documents.sync.compare_account("acme")
    assert logs == []


async def test_an_endpoint_of_another_account(kept: Rest, documents: DocumentSlice) -> None:
    """Its agent is not stored at engines, which is logged; it is tried again later."""
    await kept.scene.documents.agent("unknown", "1001", {"endpoint": "PJSIP/1001"})
    await documents.store.put("acme", "agent", "1001", AGENT)
    await documents.store.put("acme", "agent", "1002", AGENT.replace(b"1001", b"1002"))
    with capture_logs() as logs:
        await documents.sync.compare_account("acme")
    warnings = [each for each in logs if "not accepted by the engines" in each["event"]]
    assert [each["id"] for each in warnings] == ["1001"]
    assert list(await kept.scene.store.agents("acme")) == ["1002"]
    assert differences(kept) == 1
    with capture_logs() as logs:
        await documents.sync.compare_next()
    assert logs == []
    await kept.scene.documents.delete("unknown", "agent", "1001")
    await documents.sync.compare_account("acme")
    await documents.sync.compare_account("acme")
    assert differences(kept) == 0


@pytest.mark.parametrize("kind", ["route", "request"])
async def test_one_document_that_engines_reject(
    kept: Rest, documents: DocumentSlice, kind: Kind
) -> None:
    """The others are stored, also if all are lost; the log names it, and the metric counts it."""
    broken = "+4721939999" if kind == "route" else "f" * 24
    await documents.store.put("acme", kind, broken, b'{"account": "acme", ')
    for number in range(5):
        await documents.store.put("acme", "route", f"+472193000{number}", ROUTE)
    await put_all(documents)
    for _ in range(2):
        kept.scene.store.documents.clear()
        with capture_logs() as logs:
            await documents.sync.compare_account("acme")
        warnings = [each for each in logs if "not accepted by the engines" in each["event"]]
        assert [(each["kind"], each["id"]) for each in warnings] == [(kind, broken)]
        assert await in_engine(kept) == EVERYTHING
        assert len(await kept.scene.store.routes()) == 5
        await documents.sync.compare_next()
        assert differences(kept) == 1
    await documents.store.delete("acme", kind, broken)
    await documents.sync.push("acme")
    await documents.sync.compare_account("acme")
    assert differences(kept) == 0


async def test_a_flow_whose_version_engines_reject(kept: Rest, documents: DocumentSlice) -> None:
    """It is not stored without the version; other flows are."""
    await documents.flows.put_flow_version("acme", "broken", b"{")
    await documents.flows.put_flow_version("acme", "ivr", FLOW)
    with capture_logs() as logs:
        await documents.sync.compare_account("acme")
    rejected = [each["id"] for each in logs if "not accepted by the" in each["event"]]
    assert rejected == ["broken"]
    assert await kept.scene.store.flow("acme", "ivr") == (1, FLOW)
    assert await kept.scene.store.flow("acme", "broken") is None


def differences(rest: Rest) -> float | None:
    """Return how many kinds of documents differ, as the metric shows it."""
    name = "switchroom_api_document_differences"
    return rest.services.metrics.registry.get_sample_value(name)
