"""Takes over what engines have changed, each document unless the database has a newer one."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from api.documents.collection import Change
from api.documents.collection_store import CollectionStore
from api.documents.sync_store import SyncedDocument
from api.documents.tables import documents, flow_versions
from wire.decoding.messages import decode_message
from wire.documents.versioned import FlowState

MAX_MOVES = 5  # of a number between accounts while it is taken over


class _Merged(Struct, frozen=True):
    """A flow's state with the numbers of the database, and the versions that it lacks."""

    state: FlowState
    added: dict[int, bytes]
    is_renumbered: bool


class EngineChanges(CollectionStore):
    """Writes the changes of engines under the versions that they gave them."""

    async def put(self, found: SyncedDocument) -> bool:
        """Store a document or a deletion; returns whether it was newer.

        A route of another account moves with its number, as in `DocumentStore.put`.
        """
        for _ in range(MAX_MOVES):
            other = await self._other_owner(found)
            try:
                async with self._database.writing() as connection:
                    return await self._put(connection, found, other)
            except IntegrityError:  # another account has put a route of this number meanwhile
                continue
        return False

    async def put_flow(self, found: SyncedDocument, bodies: Mapping[int, bytes]) -> bool:
        """Store a flow and its versions, by number; returns whether it was newer.

        If the database has another version under the published number, the engines' becomes the
        next one.
        """
        change, key = _change(found), found.key
        async with self._database.writing() as connection:
            await self._writer.lock(connection, {key.account_id}, key.kind)
            if (await self._writer.stored(connection, change)).version >= found.version:
                return False
            state = decode_message(found.body or b"", FlowState)
            merged = _merge(state, bodies, await self._versions(connection, found))
            await self._add_versions(connection, found, merged)
            change = msgspec.structs.replace(
                change,
                body=msgspec.json.encode(merged.state),
                versions_size=sum(map(len, merged.added.values())),
            )
            await self._writer.write(
                connection,
                change,
                self._now_ms(),
                min_version=found.version + 1,
                version=0 if merged.is_renumbered else found.version,
            )
        return True

    async def _put(
        self, connection: AsyncConnection, found: SyncedDocument, other: str | None
    ) -> bool:
        change, key, now_ms = _change(found), found.key, self._now_ms()
        await self._writer.lock(connection, {key.account_id, other or key.account_id}, key.kind)
        if (await self._writer.stored(connection, change)).version >= found.version:
            return False
        if other:
            moved = Change(other, key.kind, found.id, None)
            stored = await self._writer.stored(connection, moved)
            if stored.live_version >= found.version:
                return False
            if stored.live_version:
                await self._writer.write(connection, moved, now_ms, version=found.version - 1)
        await self._writer.write(connection, change, now_ms, version=found.version)
        return True

    async def _other_owner(self, found: SyncedDocument) -> str | None:
        if found.key.kind != "route" or found.body is None:
            return None
        columns = documents.c
        query = select(columns.account_id).where(
            columns.kind == "route",
            columns.id == found.id,
            ~columns.is_deleted,
            columns.account_id != found.key.account_id,
        )
        owner: str | None = await self._database.scalar(query)
        return owner

    async def _versions(
        self, connection: AsyncConnection, flow: SyncedDocument
    ) -> dict[int, bytes]:
        columns = flow_versions.c
        query = select(columns.number, columns.body).where(
            columns.account_id == flow.key.account_id, columns.flow_id == flow.id
        )
        return {each.number: bytes(each.body) for each in (await connection.execute(query)).all()}

    async def _add_versions(
        self, connection: AsyncConnection, flow: SyncedDocument, merged: _Merged
    ) -> None:
        common = {
            "account_id": flow.key.account_id,
            "flow_id": flow.id,
            "made_ms": self._now_ms(),
            "is_published": True,  # engines publish each version
        }
        rows = [{**common, "number": number, "body": body} for number, body in merged.added.items()]
        if rows:
            await connection.execute(flow_versions.insert(), rows)


def _change(found: SyncedDocument) -> Change:
    return Change(found.key.account_id, found.key.kind, found.id, found.body)


def _merge(state: FlowState, bodies: Mapping[int, bytes], known: Mapping[int, bytes]) -> _Merged:
    added = {number: body for number, body in bodies.items() if number not in known}
    published = state.published
    body = bodies.get(published)
    is_renumbered = body is not None and published in known and known[published] != body
    if body is not None and is_renumbered:
        published = max(state.last, *known, *bodies) + 1
        added[published] = body
    last = max(state.last, published, *known, *added)
    return _Merged(FlowState(published, last), added, is_renumbered)
