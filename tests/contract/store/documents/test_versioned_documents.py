"""Documents with versions in every store: the newest wins, and checksums show what differs."""

import msgspec
import pytest

from engine.store.store import MAX_FLOW_VERSIONS, Store
from engine.store.versioned_documents import DELETION_KEPT_MS, VersionedDocument
from wire.documents.versioned import (
    CALLBACK_ID,
    KINDS,
    DocumentKind,
    FlowState,
    add_digests,
    version_digest,
)

OWN_IDS: dict[DocumentKind, str] = {"callback": CALLBACK_ID}


def doc_id(kind: DocumentKind) -> str:
    """Return an id of a kind."""
    return OWN_IDS.get(kind, "x")


def body(kind: DocumentKind, account: str, number: int) -> bytes:
    """Return a body of a kind."""
    if kind == "flow":
        return msgspec.json.encode(FlowState(number, number))
    return msgspec.json.encode({"account": account, "number": number})


def document(
    kind: DocumentKind, version: int, *, account: str = "a1", number: int = 1
) -> VersionedDocument:
    """Return a document with a version."""
    return VersionedDocument(doc_id(kind), version, body(kind, account, number))


async def stored(store: Store, kind: DocumentKind, account: str = "a1") -> bytes | None:
    """Return the document of an account."""
    if kind == "flow":
        flow = await store.flow(account, doc_id(kind))
        return body(kind, account, flow[0]) if flow else None
    found = await store.documents.read(account, kind, [doc_id(kind)])
    return found.get(doc_id(kind))


@pytest.mark.parametrize("kind", KINDS)
async def test_an_older_document_does_not_replace_a_newer_one(
    store: Store, kind: DocumentKind
) -> None:
    """Neither does one that is older than a deletion; the answer is the version that is stored."""
    now = await store.time_ms()
    for number in (1, 2):  # of flows
        await store.documents.put_flow_version("a1", doc_id(kind), number, b"{}")
    assert await store.documents.put("a1", kind, [document(kind, now)]) == [now]
    assert await store.documents.put("a1", kind, [document(kind, now - 2, number=2)]) == [now]
    assert await stored(store, kind) == body(kind, "a1", 1)
    assert await store.documents.put("a1", kind, [document(kind, now + 2, number=2)]) == [now + 2]
    assert await stored(store, kind) == body(kind, "a1", 2)
    assert await store.documents.versions("a1", kind) == {doc_id(kind): now + 2}
    deletion = VersionedDocument(doc_id(kind), now + 4, None)
    assert await store.documents.put("a1", kind, [deletion]) == [now + 4]
    assert await store.documents.put("a1", kind, [document(kind, now + 2)]) == [now + 4]
    assert await stored(store, kind) is None
    assert await store.documents.versions("a1", kind) == {}
    assert await store.documents.put("a1", kind, [document(kind, now + 6)]) == [now + 6]
    assert await stored(store, kind, "a2") is None


async def test_old_deletions_are_forgotten(store: Store) -> None:
    """Otherwise they would fill the store."""
    long_ago = await store.time_ms() - DELETION_KEPT_MS - 2
    for version, body in ((long_ago, None), (long_ago - 2, b"{}")):
        document = VersionedDocument("x", version, body)
        assert await store.documents.put("a1", "agent", [document]) == [version]


@pytest.mark.parametrize("kind", KINDS)
async def test_checksums(store: Store, kind: DocumentKind) -> None:
    """They are the sum of what is stored, whatever was stored before, for each kind."""
    for version in (4, 10):
        await store.documents.put("a1", kind, [document(kind, version)])
    expected = add_digests(0, added=version_digest(doc_id(kind), 10))
    assert await store.documents.checksums(["a2", "a1"]) == [{}, {kind: expected}]
    assert await store.documents.checksums([]) == []
    if kind != "callback":
        more = VersionedDocument("y", 2, body(kind, "a1", 1))
        await store.documents.put("a1", kind, [more])
        both = add_digests(expected, added=version_digest("y", 2))
        assert await store.documents.checksums(["a1"]) == [{kind: both}]
        await store.documents.put("a1", kind, [VersionedDocument("y", 4, None)])
    assert await store.documents.checksums(["a1"]) == [{kind: expected}]
    await store.documents.put("a1", kind, [VersionedDocument(doc_id(kind), 20, None)])
    assert await store.documents.checksums(["a1"]) == [{}]


@pytest.mark.parametrize("kind", ["route", "phone"])
async def test_a_document_moves_to_another_account(store: Store, kind: DocumentKind) -> None:
    """A number, or a phone, is of the account that wrote last; it is in one checksum only."""
    await store.documents.put("a1", kind, [document(kind, 10)])
    moved = document(kind, 12, account="a2", number=2)
    assert await store.documents.put("a2", kind, [moved]) == [12]
    assert (await stored(store, kind), await stored(store, kind, "a2")) == (None, moved.body)
    expected = {kind: version_digest("x", 12)}
    assert await store.documents.checksums(["a1", "a2"]) == [{}, expected]
    assert await store.documents.put("a1", kind, [document(kind, 10)]) == [12]
    assert await store.documents.versions("a1", kind) == {}


async def test_a_flow_has_the_numbers_of_the_database(store: Store) -> None:
    """A version is published by its number, also an earlier one."""
    for number in (1, 2, 3):
        await store.documents.put_flow_version("a1", "ivr", number, b"%d" % number)
    state = msgspec.json.encode(FlowState(2, 3))
    await store.documents.put("a1", "flow", [VersionedDocument("ivr", 10, state)])
    assert await store.flow("a1", "ivr") == (2, b"2")
    assert await store.flow("a1", "ivr", 3) == (3, b"3")
    deletion = VersionedDocument("ivr", (await store.time_ms()) * 2, None)
    await store.documents.put("a1", "flow", [deletion])
    assert await store.flow("a1", "ivr") is None
    assert await store.flow("a1", "ivr", 2) == (2, b"2")


async def test_an_unpublished_flow(store: Store) -> None:
    """No call runs it; its document is there."""
    state = msgspec.json.encode(FlowState(0, 1))
    await store.documents.put("a1", "flow", [VersionedDocument("ivr", 10, state)])
    assert await store.flow("a1", "ivr") is None
    assert await store.documents.versions("a1", "flow") == {"ivr": 10}


async def test_old_flow_versions_are_deleted(store: Store) -> None:
    """The number of versions is limited, whoever numbers them."""
    await store.documents.put_flow_version("a1", "ivr", 1, b"1")
    await store.documents.put_flow_version("a1", "ivr", MAX_FLOW_VERSIONS + 1, b"2")
    assert await store.flow("a1", "ivr", 1) is None


async def test_many_documents_at_once(store: Store) -> None:
    """Each has its result, in order."""
    documents = [VersionedDocument(f"+47{n}", 2 * n + 2, b'{"account":"a1"}') for n in range(500)]
    assert await store.documents.put("a1", "route", documents) == [
        each.version for each in documents
    ]
    assert await store.documents.versions("a1", "route") == {
        each.id: each.version for each in documents
    }
    assert len(await store.documents.read("a1", "route", [each.id for each in documents])) == 500
    assert await store.documents.read("a1", "route", []) == {}
