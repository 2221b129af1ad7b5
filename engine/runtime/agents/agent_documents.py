"""Documents of agents, and the endpoints that they claim and release."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec
from msgspec import Struct

from engine.runtime.agents.directory import Directory
from engine.runtime.agents.phone_credentials import EndpointTaken
from engine.store.store import Store
from engine.store.versioned_documents import VersionedDocument
from wire.agents import Agent
from wire.decoding.messages import decode_message


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
            is_stored = versions[each.id] == each.version
            previous, endpoint = _endpoint(before.get(each.id)), _endpoint(each.body)
            if not is_stored:
                await self._release(account, endpoint)
            elif previous != endpoint:
                await self._release(account, previous)
        await self.directory.update(account)  # the next call may be the agent's
        return [versions.get(each.id, 0) for each in documents]

    async def reserve(self, account: str, endpoint: str) -> None:
        """Keep an endpoint for an agent that is stored next; raises EndpointTaken."""
        await self._take(self.store.phones.reserve, account, endpoint)

    async def _may_have(self, account: str, body: bytes | None) -> bool:
        if body is None:
            return True
        endpoint = _endpoint(body)
        if not endpoint or self.directory.is_trunk(endpoint):
            return False
        try:
            await self._take(self.store.phones.claim, account, endpoint)
        except EndpointTaken:
            return False
        return True

    async def _take(
        self, take: Callable[[str, str], Awaitable[str]], account: str, endpoint: str
    ) -> None:
        """Reserve or claim an endpoint; raises EndpointTaken."""
        owner = await take(endpoint, account)
        if owner != account and not await self.directory.has_endpoint(owner, endpoint):
            # Claimed for an agent that was not stored, unless that was a moment ago.
            await self.store.phones.release_unused(endpoint, owner)
            owner = await take(endpoint, account)
        if owner != account:
            # The error does not name the owner: it is another customer.
            raise EndpointTaken(f"{endpoint} belongs to another account")

    async def _release(self, account: str, endpoint: str) -> None:
        """Release an endpoint, unless an agent has it."""
        if endpoint and not await self.directory.has_endpoint(account, endpoint):
            await self.store.phones.release(endpoint, account)


def _endpoint(body: bytes | None) -> str:
    """Return the endpoint of an agent's document; empty without one, and for an invalid one."""
    try:
        return decode_message(body, Agent).endpoint if body else ""
    except msgspec.DecodeError:
        return ""
