"""Documents of agents, and the endpoints and passwords that they claim and release."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import msgspec
from msgspec import Struct

from engine.runtime.agents.directory import Directory
from engine.runtime.agents.phone_credentials import CredentialStore, EndpointTaken
from engine.store.errors import StoreDown
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
            if versions[each.id] != each.version:
                await self._release(account, _endpoint(each.body))
            elif each.id in before:
                await self._settle(account, each, before)
        return [versions.get(each.id, 0) for each in documents]

    async def reserve(self, account: str, endpoint: str) -> None:
        """Keep an endpoint for an agent that is stored next; raises EndpointTaken."""
        await self._take(self.store.phones.reserve, account, endpoint)

    @asynccontextmanager
    async def claimed(self, account: str, endpoint: str) -> AsyncIterator[None]:
        """Claim the endpoint of an agent that is stored meanwhile; raises EndpointTaken.

        If that fails, the endpoint is released.
        """
        await self._take(self.store.phones.claim, account, endpoint)
        try:
            yield
        except BaseException:
            with suppress(StoreDown):  # then it is released when another account wants it
                await self._release(account, endpoint)
            raise

    async def forget_password(
        self, account: str, agent_id: str, before: bytes | None, after: Agent | None = None
    ) -> None:
        """Delete the password of a document that is replaced next, unless its phone stays.

        Not after that: if it failed then, the password would stay valid without an agent.
        """
        if _phone(before) != ((after.endpoint, after.phone) if after else ("", "")):
            await CredentialStore(self.store).remove(account, agent_id, _endpoint(before))

    async def release(self, account: str, before: bytes | None) -> None:
        """Release the endpoint of a replaced document, unless an agent has it."""
        await self._release(account, _endpoint(before))

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

    async def _settle(
        self, account: str, document: VersionedDocument, before: Mapping[str, bytes]
    ) -> None:
        previous = before[document.id]
        if _endpoint(previous) != _endpoint(document.body):
            replaced = VersionedDocument(document.id, document.version, previous)
            await self._let_go(account, replaced)

    async def _let_go(self, account: str, replaced: VersionedDocument) -> None:
        """Let the endpoint of a document go that a version has replaced, and its password."""
        endpoint = _endpoint(replaced.body)
        credentials = CredentialStore(self.store)
        await credentials.remove(account, replaced.id, endpoint, replaced.version)
        await self._release(account, endpoint)

    async def _release(self, account: str, endpoint: str) -> None:
        """Release an endpoint, unless an agent has it."""
        if endpoint and not await self.directory.has_endpoint(account, endpoint):
            await self.store.phones.release(endpoint, account)


def _phone(body: bytes | None) -> tuple[str, str]:
    """Return the endpoint of an agent's document, and what it is made for; empty without one."""
    try:
        agent = decode_message(body, Agent) if body else None
    except msgspec.DecodeError:
        agent = None
    return (agent.endpoint, agent.phone) if agent else ("", "")


def _endpoint(body: bytes | None) -> str:
    """Return the endpoint of an agent's document; empty without one, and for an invalid one."""
    return _phone(body)[0]
