"""RPC operations on all documents of accounts, which the REST layer keeps in its database."""

from collections.abc import Sequence

import msgspec
import structlog
from aiohttp import web
from msgspec import Struct

from engine.rpc.json_body import read_large_body
from engine.rpc.lookup import name_in
from engine.rpc.problems import NotFound
from engine.runtime.agents.agent_documents import AgentDocuments
from engine.store.store import Store
from engine.store.versioned_documents import VersionedDocument
from wire.decoding.errors import BadInput
from wire.decoding.messages import decode_message
from wire.documents.versioned import (
    KINDS,
    MAX_PATCH_BYTES,
    SECRET_KINDS,
    AccountChecksums,
    AccountNames,
    DocumentChecksums,
    DocumentKind,
    DocumentVersions,
    FlowState,
    PatchDocuments,
    PatchedDocuments,
)

log = structlog.get_logger()


class DocumentHandlers(Struct, frozen=True):
    store: Store
    agents: AgentDocuments

    async def checksums(self, _request: web.Request, body: AccountNames) -> DocumentChecksums:
        """Return a checksum for each kind of documents of some accounts."""
        found = await self.store.documents.checksums(body.accounts)
        pairs = zip(body.accounts, found, strict=True)
        return DocumentChecksums(tuple(AccountChecksums(*each) for each in pairs))

    async def versions(self, request: web.Request) -> DocumentVersions:
        """Return the versions of an account's documents of a kind."""
        account, kind = name_in(request, "account"), _kind(request)
        return DocumentVersions(await self.store.documents.versions(account, kind))

    async def get(self, request: web.Request) -> web.Response:
        """Show a document without secrets; of a flow the version that new calls run."""
        account, kind = name_in(request, "account"), _kind(request)
        doc_id = request.match_info["id"]
        if kind in SECRET_KINDS:
            raise BadInput("kind", "documents of this kind have secrets and are not shown")
        if kind == "flow":
            body = (await self.store.flow(account, doc_id) or (0, None))[1]
        else:
            body = (await self.store.documents.read(account, kind, [doc_id])).get(doc_id)
        if not body:
            raise NotFound(f"no {kind} {doc_id} of account {account}")
        return web.Response(body=body, content_type="application/json")

    async def patch(self, request: web.Request) -> PatchedDocuments:
        """Store documents, each unless there is a newer one; return the versions afterwards."""
        body = await read_large_body(request, PatchDocuments, MAX_PATCH_BYTES)
        for each in body.flow_versions:
            await self.store.documents.put_flow_version(
                each.account, each.flow, each.number, bytes(each.body)
            )
        groups: dict[tuple[str, DocumentKind], list[int]] = {}
        for place, change in enumerate(body.changes):
            groups.setdefault((change.account, change.kind), []).append(place)
        versions = [0] * len(body.changes)
        for (account, kind), places in groups.items():
            documents = [
                VersionedDocument(each.id, each.version, each.document)
                for each in (body.changes[place] for place in places)
            ]
            stored = await self.write(account, kind, documents)
            for place, version in zip(places, stored, strict=True):
                versions[place] = version
        return PatchedDocuments(tuple(versions))

    async def write(
        self, account: str, kind: DocumentKind, documents: Sequence[VersionedDocument]
    ) -> list[int]:
        """Store documents; returns the version of each afterwards, 0: not accepted."""
        if kind == "agent":
            versions = await self.agents.put(account, documents)
        elif kind == "flow":
            versions = await self._put_flows(account, documents)
        else:
            return await self.store.documents.put(account, kind, documents)
        for document, version in zip(documents, versions, strict=True):
            if not version:
                log.warning("document not accepted", account=account, kind=kind, id=document.id)
        return versions

    async def _put_flows(self, account: str, documents: Sequence[VersionedDocument]) -> list[int]:
        """Store flows, except those whose documents are none."""
        accepted = [each for each in documents if each.body is None or _is_flow(each.body)]
        stored = await self.store.documents.put(account, "flow", accepted)
        versions = dict(zip((each.id for each in accepted), stored, strict=True))
        return [versions.get(each.id, 0) for each in documents]


def _kind(request: web.Request) -> DocumentKind:
    found = request.match_info["kind"]
    for kind in KINDS:
        if kind == found:
            return kind
    raise BadInput("kind", f"one of {', '.join(KINDS)}")


def _is_flow(body: bytes) -> bool:
    try:
        decode_message(body, FlowState)
    except msgspec.DecodeError:
        return False
    return True
