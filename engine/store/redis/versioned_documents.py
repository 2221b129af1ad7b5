"""Versioned documents in Redis or Valkey: each table's versions are in its own hash slot."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import structlog
from msgspec import Struct
from redis.asyncio import Redis

from engine.store.redis.document_cipher import DocumentCipher, UnreadableDocument
from engine.store.redis.script_connection import ScriptRunner, encode, load_script, lua_string
from engine.store.store import MAX_CHANGES, MAX_FLOW_VERSIONS
from engine.store.versioned_documents import SHARED_KINDS, VersionedDocument, owner_in
from wire.decoding.messages import decode_message
from wire.documents.versioned import DocumentKind, FlowState

log = structlog.get_logger()
T = TypeVar("T")
WithTimeout = Callable[[Awaitable[Any]], Awaitable[Any]]
_PUT = load_script("documents/put")
KEPT_CHANGES = 10 * MAX_CHANGES  # of an account's agents, or of all phones
CHANGES_KEPT_S = 7_200  # of agents, all of which engines read again every hour
BATCH_SIZE = 200  # documents of a script, which takes the server some milliseconds
_ACCOUNT_KINDS: tuple[DocumentKind, ...] = ("flow", "request", "agent", "callback")
_FORMS: dict[DocumentKind, str] = {
    "agent": "agent",
    "phone": "phone",
    "flow": "flow",
}
_decode_versions = msgspec.msgpack.Decoder(list[int]).decode


class RedisVersionedDocuments(Struct, frozen=True):
    """Implements `VersionedDocuments`."""

    client: Redis
    scripts: ScriptRunner
    with_timeout: WithTimeout
    cipher: DocumentCipher

    async def put(
        self, account: str, kind: DocumentKind, documents: Sequence[VersionedDocument]
    ) -> list[int]:
        table, limits = table_of(kind, account), (KEPT_CHANGES, CHANGES_KEPT_S)
        form, is_shared = _FORMS.get(kind, "hash"), kind in SHARED_KINDS
        versions = list[int]()
        for batch in _batches(documents):
            changes = [(each.id, each.version, self._form(account, kind, each)) for each in batch]
            arguments = encode((account, form, is_shared, changes, limits))
            answer = await self.scripts.run(_PUT, table, arguments)
            versions += _decode_versions(answer)  # type: ignore[arg-type]  # it answers a string
        return versions

    async def put_flow_version(self, account: str, flow_id: str, number: int, body: bytes) -> None:
        key = flow_key(account, flow_id)
        writes = self.client.pipeline(transaction=True)
        writes.hset(key, str(number), body)
        writes.hdel(key, str(number - MAX_FLOW_VERSIONS))
        await self.with_timeout(writes.execute())

    async def checksums(self, accounts: Sequence[str]) -> list[dict[DocumentKind, int]]:
        if not accounts:
            return []
        reads = self.client.pipeline(transaction=False)
        for shared in sorted(SHARED_KINDS):
            reads.hmget(f"{_prefix(table_of(shared, ''))}:sums", list(accounts))
        for account in accounts:
            for kind in _ACCOUNT_KINDS:
                reads.hget(f"{_prefix(table_of(kind, account))}:sums", account)
        *shared_sums, own = _split(await self.with_timeout(reads.execute()), len(SHARED_KINDS))
        found = list[dict[DocumentKind, int]]()
        for place in range(len(accounts)):
            start = place * len(_ACCOUNT_KINDS)
            sums: dict[DocumentKind, bytes | None] = dict(
                zip(sorted(SHARED_KINDS), (each[place] for each in shared_sums), strict=True)
            )
            sums |= dict(zip(_ACCOUNT_KINDS, own[start : start + len(_ACCOUNT_KINDS)], strict=True))
            found.append({kind: int(text) for kind, text in sums.items() if text and int(text)})
        return found

    async def versions(self, account: str, kind: DocumentKind) -> dict[str, int]:
        found = await self.with_timeout(self.client.hgetall(_versions_key(kind, account)))
        return {name.decode(): int(version) for name, version in found.items()}

    async def read(
        self, account: str, kind: DocumentKind, ids: Sequence[str]
    ) -> Mapping[str, bytes]:
        table = table_of(kind, account)
        stored = await self.with_timeout(self.client.hmget(table, list(ids))) if ids else []
        pairs = zip(ids, stored, strict=True)
        found = {
            doc_id: self._decrypted(_place(kind, account, doc_id), body)
            for doc_id, body in pairs
            if body is not None
        }
        if kind in SHARED_KINDS:
            return {name: body for name, body in found.items() if owner_in(body) == account}
        return found

    def _decrypted(self, place: str, stored: bytes) -> bytes:
        try:
            return self.cipher.decrypt(place, stored)
        except UnreadableDocument as error:
            log.warning("document not read", reason=error.detail)
            return b""

    def _form(self, account: str, kind: DocumentKind, document: VersionedDocument) -> object:
        """Return a document as the script stores it; False: it is deleted."""
        body = document.body
        if body is None:
            return False
        if kind == "flow":
            return decode_message(body, FlowState).published
        if kind in {"request", "callback"}:
            body = self.cipher.encrypt(_place(kind, account, document.id), body)
        return lua_string(body)


def table_of(kind: DocumentKind, account: str) -> str:
    """Return the key of what an account has of a kind; routes and phones are in one for all."""
    match kind:
        case "route":
            return "route:numbers"
        case "phone":
            return "phones"
        case "flow":
            return f"flows:{{{account}}}"
        case "request":
            return f"requests:{account}"
        case "agent":
            return f"agents:{account}"
        case "callback":
            return f"callbacks:{account}"


def flow_key(account: str, flow_id: str) -> str:
    """Return the key of a flow's versions, by their numbers."""
    return f"flow:{{{account}}}:{flow_id}"


def _prefix(table: str) -> str:
    return table if "{" in table else f"{{{table}}}"


def _versions_key(kind: DocumentKind, account: str) -> str:
    return f"{_prefix(table_of(kind, account))}:versions:{account}"


def _place(kind: DocumentKind, account: str, doc_id: str) -> str:
    """Return the place that a document's ciphertext is bound to."""
    return f"{table_of(kind, account)}:{doc_id}"


def _split(found: list[Any], count: int) -> list[Any]:
    return [*found[:count], found[count:]]


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + BATCH_SIZE] for start in range(0, len(items), BATCH_SIZE))
