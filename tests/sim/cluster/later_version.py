"""An engine of a later version: it stores calls in a format that other engines do not know."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from engine.calls.model.storage_format import FORMAT, StoredCall
from engine.store.change import Change
from wire.shard import ShardId

POSITION = StoredCall.__struct_fields__.index("format")


class LaterVersionStore:
    """A store connection that numbers stored calls for their readers, and back for its engine."""

    def __init__(self, link: Any, stored_format: int) -> None:
        self._link = link
        self._format = stored_format

    def __getattr__(self, name: str) -> Any:
        return getattr(self._link, name)

    async def commit(
        self,
        shard: ShardId,
        token: int,
        changes: Sequence[Change],
        number: int = 0,
        sent: Sequence[str] = (),
    ) -> None:
        later = [replace(each, state=_numbered(each.state, self._format)) for each in changes]
        await self._link.commit(shard, token, later, number, sent)

    async def unsent(self, shard: ShardId) -> dict[str, bytes | None]:
        calls = await self._link.unsent(shard)
        return {call: state and _numbered(state, FORMAT) for call, state in calls.items()}

    async def live(self, shard: ShardId) -> AsyncIterator[tuple[str, str, bytes]]:
        async for call_id, node, state in self._link.live(shard):
            yield call_id, node, _numbered(state, FORMAT)


def _numbered(state: bytes, stored_format: int) -> bytes:
    fields = msgspec.msgpack.decode(state)
    fields[POSITION] = stored_format
    return msgspec.msgpack.encode(fields)
