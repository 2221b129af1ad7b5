"""Agents in the database, with the passwords of their phones."""

import msgspec
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.documents.collection import Change
from api.documents.document import Document
from api.documents.store import DocumentStore
from wire.agents import Agent, phone_name


class _Phone(Struct, frozen=True):
    """Whose password it is."""

    agent_id: str = ""


class AgentStore(DocumentStore):
    """Stores agents; with an agent's endpoint goes the password of its phone."""

    async def put_phone(self, agent: Document, phone_id: str, body: bytes) -> Document:
        """Store the password of an agent's phone.

        Raises PreconditionFailed if the agent has been changed or deleted since it was read.
        """
        of, change = _agent(agent), Change(agent.account_id, "phone", phone_id, body)
        async with self._database.writing() as connection:
            await self._writer.lock(connection, {agent.account_id}, "agent")
            await self._writer.check(connection, of, agent.version)
            await self._writer.lock(connection, {agent.account_id}, "phone")
            return await self._writer.write(connection, change, self._now_ms())

    async def _before_write(self, connection: AsyncConnection, change: Change) -> None:
        before = _phone_of(await self._writer.replaced_body(connection, change))
        if not before or before == _phone_of(change.body):
            return
        phone = Change(change.account_id, "phone", before, None)
        await self._writer.lock(connection, {change.account_id}, "phone")
        body = await self._writer.replaced_body(connection, phone)
        if body is not None and msgspec.json.decode(body, type=_Phone).agent_id == change.id:
            await self._writer.write(connection, phone, self._now_ms())


def _agent(document: Document) -> Change:
    return Change(document.account_id, "agent", document.id, document.body)


def _phone_of(body: bytes | None) -> str:
    """Return the name of an agent's phone; empty for none."""
    return "" if body is None else phone_name(msgspec.json.decode(body, type=Agent).endpoint)
