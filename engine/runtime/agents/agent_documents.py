"""Documents of agents, and the endpoints and passwords that they claim and release."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from engine.runtime.agents.directory import Directory
from engine.runtime.agents.phone_credentials import CredentialStore
from engine.store.store import Store
from engine.store.versioned_documents import VersionedDocument
from wire.agents import Agent


class AgentDocuments(Struct, frozen=True):
    """An endpoint belongs to one account at most, whichever way its documents are stored."""

    store: Store
    directory: Directory

    async def put(self, account: str, documents: Sequence[VersionedDocument]) -> list[int]:
        """Store documents with versions; returns the version of each afterwards, 0: not accepted.

        Not accepted are the trunk's endpoint, and endpoints of other accounts.
        """
        accepted = [each for each in documents if await self._may_have(account, each.body)]
        before = await self.store.documents.read(account, "agent", [each.id for each in accepted])
        stored = await self.store.documents.put(account, "agent", accepted)
        versions = dict(zip((each.id for each in accepted), stored, strict=True))
        for each in accepted:
            if each.id in before and versions[each.id] == each.version:
                await self._settle(account, each, before)
        return [versions.get(each.id, 0) for each in documents]

    async def release(self, account: str, previous: bytes | None) -> None:
        """Release the endpoint of a replaced document, unless another agent still has it."""
        if previous is None:
            return
        endpoint = msgspec.json.decode(previous, type=Agent).endpoint
        if not await self.directory.has_endpoint(account, endpoint):
            await self.store.release_endpoint(endpoint, account)

    async def _may_have(self, account: str, body: bytes | None) -> bool:
        if body is None:
            return True
        endpoint = _endpoint(body)
        return (
            bool(endpoint)
            and not self.directory.is_trunk(endpoint)
            and await self.store.claim_endpoint(endpoint, account) == account
        )

    async def _settle(
        self, account: str, document: VersionedDocument, before: Mapping[str, bytes]
    ) -> None:
        """Let a replaced document's endpoint and password go, unless the new one has them."""
        previous = before[document.id]
        endpoint = _endpoint(document.body) if document.body is not None else ""
        if _endpoint(previous) != endpoint:
            credentials = CredentialStore(self.store)
            await credentials.remove(account, document.id, but=endpoint)
            await self.release(account, previous)


def _endpoint(body: bytes) -> str:
    """Return the endpoint of an agent's document; empty for an invalid one."""
    try:
        return msgspec.json.decode(body, type=Agent).endpoint
    except msgspec.DecodeError:
        return ""
