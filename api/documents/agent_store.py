"""Agents in the database, with the passwords of their phones."""

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Select, and_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from api.accounts.store import accounts
from api.common.errors import Conflict
from api.documents.collection import Change, is_live
from api.documents.document import Document
from api.documents.store import DocumentStore
from api.documents.tables import IS_AGENT, documents
from wire.agents import TECHNOLOGY, Agent, phone_name
from wire.decoding.messages import decode_message


class _Phone(Struct, frozen=True):
    """Whose password it is."""

    agent_id: str = ""


class _Logins(Struct, frozen=True):
    """The part of a phone's document that says which API key has created each login."""

    logins: tuple[dict[str, Any], ...] = ()
    withdrawals: int = 0


class AgentStore(DocumentStore):
    """Stores agents; with an agent's endpoint goes the password of its phone.

    An endpoint is one account's, and with a password one agent's. Engines check that, too, but they
    do not know while their store has lost its data.
    """

    async def put_phone(
        self, agent: Document, phone_id: str, body: bytes, *, expected: int | None = None
    ) -> Document:
        """Store the password of an agent's phone.

        Raises PreconditionFailed if the agent has been changed or deleted since it was read, or if
        the phone has another version than expected, and Conflict if it is another agent's.
        """
        of, change = _agent(agent), Change(agent.account_id, "phone", phone_id, body)
        async with self._database.writing() as connection:
            await self._writer.lock(connection, {agent.account_id}, "agent")
            await self._writer.check(connection, of, agent.version)
            await self._writer.lock(connection, {agent.account_id}, "phone")
            await self._check_owner(connection, agent.account_id, agent.id, phone_id)
            await self._writer.check(connection, change, expected)
            return await self._writer.write(connection, change, self._now_ms())

    async def withdraw_logins(self, account_id: str, key_ids: Collection[str]) -> bool:
        """Remove the logins that some API keys have created; return whether there were any.

        The registrations of their phones end, too.
        """
        is_changed = False
        async with self._database.writing() as connection:
            await self._writer.lock(connection, {account_id}, "phone")
            query = select(documents).where(is_live(account_id, "phone"))
            for row in (await connection.execute(query)).mappings().all():
                body = self._writer.document(row).body
                if (left := _without_logins(body, key_ids)) is not None:
                    change = Change(account_id, "phone", row["id"], left)
                    await self._writer.write(connection, change, self._now_ms())
                    is_changed = True
        return is_changed

    async def remove_login(self, account_id: str, phone_id: str, username: str) -> None:
        """Remove a login that nothing can have used."""
        phone = Change(account_id, "phone", phone_id, None)
        async with self._database.writing() as connection:
            await self._writer.lock(connection, {account_id}, "phone")
            body = await self._writer.replaced_body(connection, phone)
            if body is None:
                return
            whole: dict[str, Any] = msgspec.json.decode(body)
            left = [each for each in whole.get("logins", ()) if each["username"] != username]
            body = msgspec.json.encode({**whole, "logins": left})
            await self._writer.write(connection, replace(phone, body=body), self._now_ms())

    async def _before_write(self, connection: AsyncConnection, change: Change) -> None:
        replaced = await self._writer.replaced_body(connection, change)
        before, after = _phone_of(replaced), _phone_of(change.body)
        endpoint = _endpoint_of(change.body)
        if endpoint and endpoint != _endpoint_of(replaced):
            others = _others(change.account_id, endpoint)
            if (await connection.execute(others)).first():
                raise _taken(endpoint)
        if after:
            await self._check_owner(connection, change.account_id, change.id, after)
        if not before or (before == after and _kind_of(replaced) == _kind_of(change.body)):
            return
        phone = Change(change.account_id, "phone", before, None)
        await self._writer.lock(connection, {change.account_id}, "phone")
        body = await self._writer.replaced_body(connection, phone)
        if body is not None and msgspec.json.decode(body, type=_Phone).agent_id == change.id:
            await self._writer.write(connection, phone, self._now_ms())

    async def check_endpoint(self, account_id: str, endpoint: str) -> None:
        """Check that no agent of another account has an endpoint; raises Conflict."""
        if await self._database.rows(_others(account_id, endpoint)):
            raise _taken(endpoint)

    async def _check_owner(
        self, connection: AsyncConnection, account_id: str, agent_id: str, phone_id: str
    ) -> None:
        """Check that a phone has no password of another agent; raises Conflict."""
        columns = documents.c
        # By account, so that PostgreSQL looks each of them up in the primary key.
        of_account = and_(columns.account_id == accounts.c.id, columns.kind == "phone")
        query = (
            select(documents)
            .select_from(accounts.join(documents, of_account))
            .where(columns.id == phone_id, ~columns.is_deleted)
        )
        for row in (await connection.execute(query)).mappings():
            phone = msgspec.json.decode(self._writer.document(row).body, type=_Phone)
            is_own = (row["account_id"], phone.agent_id) == (account_id, agent_id)
            if not is_own:
                raise Conflict(
                    f"{TECHNOLOGY}/{phone_id} is another agent's phone", "endpoint_taken"
                )


def _without_logins(body: bytes, key_ids: Collection[str]) -> bytes | None:
    """Return a phone's document without the logins of some keys; None if it has none."""
    found = msgspec.json.decode(body, type=_Logins)
    left = [each for each in found.logins if each.get("key_id") not in key_ids]
    if len(left) == len(found.logins):
        return None
    whole: dict[str, Any] = msgspec.json.decode(body)
    return msgspec.json.encode({**whole, "logins": left, "withdrawals": found.withdrawals + 1})


def _others(account_id: str, endpoint: str) -> Select[Any]:
    """Return the query of an account that has an endpoint, other than one."""
    columns = documents.c
    first = b'{"endpoint":%b' % msgspec.json.encode(endpoint)  # as an agent is encoded
    return (
        select(columns.account_id)
        .where(IS_AGENT)
        .where(columns.body >= first, columns.body < first + b"\xff")
        .where(columns.account_id != account_id)
        .limit(1)
    )


def _taken(endpoint: str) -> Conflict:
    return Conflict(f"{endpoint} belongs to another account", "endpoint_taken")


def _agent(document: Document) -> Change:
    return Change(document.account_id, "agent", document.id, document.body)


def _phone_of(body: bytes | None) -> str:
    """Return the name of an agent's phone; empty for none."""
    return phone_name(_endpoint_of(body))


def _kind_of(body: bytes | None) -> str:
    """Return what an agent's phone is; empty for none."""
    return "" if body is None else decode_message(body, Agent).phone


def _endpoint_of(body: bytes | None) -> str:
    """Return the endpoint of an agent; empty for none."""
    return "" if body is None else decode_message(body, Agent).endpoint
