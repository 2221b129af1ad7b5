"""Flows in the database: each change is a version with a number, and one of them is published."""

from typing import Annotated, Any

import msgspec
from sqlalchemy import ColumnElement, RowMapping, and_, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.errors import NotFound
from api.documents.collection import Change, CollectionStore
from api.documents.document import Document, FlowVersion, FlowVersionInfo
from api.documents.tables import documents, flow_versions
from base.limit import Limit
from wire.decoding.messages import decode_message
from wire.documents.versioned import FlowState

MAX_FLOW_VERSIONS: Annotated[
    int,
    Limit(
        "account",
        "the oldest is deleted",
        "Versions of one flow, besides the published one.",
    ),
] = 100
_SIZE = func.length(flow_versions.c.body)  # in bytes; no body is read for it


class FlowStore(CollectionStore):
    """Stores versions of flows; the flow itself is a document with a `FlowState` as its body.

    `expected` is the version of that document, as in `DocumentStore`, which also reads, lists and
    deletes flows. Numbers outlive a deleted flow, because engines cache versions by number.
    """

    async def put_flow_version(
        self,
        account_id: str,
        flow_id: str,
        body: bytes,
        *,
        publish: bool = True,
        expected: int | None = None,
    ) -> tuple[Document, FlowVersion]:
        """Store a flow's next version; new calls run it if it is published.

        Raises PreconditionFailed, Conflict, and NotFound for an unknown account.
        """
        now_ms = self._now_ms()
        async with self._database.writing() as connection:
            await self._writer.lock(connection, {account_id}, "flow")
            await self._writer.check(connection, _flow(account_id, flow_id), expected)
            before = await self._state(connection, account_id, flow_id)
            number = await self._last_number(connection, account_id, flow_id) + 1
            version = FlowVersion(number, body, now_ms, publish)
            await self._add(connection, account_id, flow_id, version)
            state = FlowState(number if publish else before.published, number)
            removed = await self._remove_oldest(connection, account_id, flow_id, state)
            flow = _flow(account_id, flow_id, state, len(body) - removed)
            return await self._writer.write(connection, flow, now_ms), version

    async def publish(
        self, account_id: str, flow_id: str, number: int, *, expected: int | None = None
    ) -> tuple[Document, FlowVersion]:
        """Let new calls run a version, also an earlier one; raises NotFound, PreconditionFailed."""
        async with self._database.writing() as connection:
            await self._writer.lock(connection, {account_id}, "flow")
            if not await self._writer.check(connection, _flow(account_id, flow_id), expected):
                raise NotFound(f"no flow {flow_id}")
            this = _versions(account_id, flow_id, number)
            await connection.execute(update(flow_versions).where(this).values(is_published=True))
            row = (await connection.execute(select(flow_versions).where(this))).mappings().first()
            if row is None:
                raise NotFound(f"no version {number} of flow {flow_id}")
            state = await self._state(connection, account_id, flow_id)
            flow = _flow(account_id, flow_id, FlowState(number, state.last))
            return await self._writer.write(connection, flow, self._now_ms()), _version(row)

    async def flow_versions(self, account_id: str, flow_id: str) -> list[FlowVersionInfo]:
        """Return the kept versions of a flow, the oldest first; none if there is no flow."""
        columns = flow_versions.c
        query = (
            select(columns.number, _SIZE, columns.made_ms, columns.is_published)
            .join(documents, _is_document())
            .where(_versions(account_id, flow_id), ~documents.c.is_deleted)
            .order_by(columns.number)
        )
        return [FlowVersionInfo(*row) for row in await self._database.rows(query)]

    async def flow_version(self, account_id: str, flow_id: str, number: int) -> FlowVersion:
        """Return a version of a flow; raises NotFound."""
        query = (
            select(flow_versions)
            .join(documents, _is_document())
            .where(_versions(account_id, flow_id, number), ~documents.c.is_deleted)
        )
        rows = await self._database.mappings(query)
        if not rows:
            raise NotFound(f"no version {number} of flow {flow_id}")
        return _version(rows[0])

    async def _state(self, connection: AsyncConnection, account_id: str, flow_id: str) -> FlowState:
        body = await self._writer.replaced_body(connection, _flow(account_id, flow_id))
        return decode_message(body, FlowState) if body else FlowState(0, 0)

    async def _last_number(self, connection: AsyncConnection, account_id: str, flow_id: str) -> int:
        query = select(func.max(flow_versions.c.number)).where(_versions(account_id, flow_id))
        return int((await connection.execute(query)).scalar_one() or 0)

    async def _add(
        self, connection: AsyncConnection, account_id: str, flow_id: str, version: FlowVersion
    ) -> None:
        row = {"account_id": account_id, "flow_id": flow_id, **msgspec.structs.asdict(version)}
        await connection.execute(flow_versions.insert().values(row))

    async def _remove_oldest(
        self, connection: AsyncConnection, account_id: str, flow_id: str, state: FlowState
    ) -> int:
        """Remove the versions that are too many; returns how many bytes."""
        excess = delete(flow_versions).where(
            _versions(account_id, flow_id),
            flow_versions.c.number <= state.last - MAX_FLOW_VERSIONS,
            flow_versions.c.number != state.published,
        )
        return sum((await connection.execute(excess.returning(_SIZE))).scalars())


def _flow(
    account_id: str, flow_id: str, state: FlowState | None = None, versions_size: int = 0
) -> Change:
    body = msgspec.json.encode(state) if state else None
    return Change(account_id, "flow", flow_id, body, versions_size)


def _is_document() -> ColumnElement[bool]:
    return and_(
        documents.c.account_id == flow_versions.c.account_id,
        documents.c.kind == "flow",
        documents.c.id == flow_versions.c.flow_id,
    )


def _versions(account_id: str, flow_id: str, number: int | None = None) -> ColumnElement[bool]:
    columns = flow_versions.c
    of_flow = and_(columns.account_id == account_id, columns.flow_id == flow_id)
    return of_flow if number is None else and_(of_flow, columns.number == number)


def _version(row: RowMapping | dict[str, Any]) -> FlowVersion:
    return FlowVersion(row["number"], bytes(row["body"]), row["made_ms"], row["is_published"])
