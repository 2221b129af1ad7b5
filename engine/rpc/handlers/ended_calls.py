"""RPC operation that repeats the events of ended calls, for a reader that has lost some.

Everything is in the store, so any engine can do it for any shard. The events are made by replaying
the calls' logs, one call at a time: live calls get their turn on the event loop. Of a log that
cannot be replayed to its end, the last event with the call's record is made from its state.
"""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import structlog
from aiohttp import web
from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.commands import EmitEvent
from engine.calls.model.storage_format import decode_stored_call
from engine.calls.replay_audit import replay
from engine.calls.verbs.call_end import last_event
from engine.rpc.json_body import read_query
from engine.rpc.lookup import shard_in
from engine.runtime.cluster.shard_map import ShardMap
from engine.store.errors import StoreDown
from engine.store.store import Store
from engine.store.stream import entry_order
from wire.events.consumer_groups import ReadEndedCalls
from wire.shard import ShardId

log = structlog.get_logger()
MARGIN_MS = 60_000  # between an event's time and that of its commit
STEPS_PER_TURN = 100  # of a replay; then live calls get their turn
CALLS_PER_LINE = 500  # of other times; then an empty line keeps the connection alive


class EndedCallHandlers(Struct, frozen=True):
    store: Store
    shards: ShardMap

    async def read(self, request: web.Request) -> web.StreamResponse:
        """Send the events of a shard's ended calls that were live in a range of the stream.

        One event a line, in order within a call. A call that cannot be decoded is left out.
        """
        query = read_query(request, ReadEndedCalls)
        shard = shard_in(self.shards, query.shard)
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        try:
            async for lines in self._lines(shard, query):
                await response.write(lines)
        except StoreDown:
            if request.transport is not None:
                request.transport.abort()  # else the response would look complete
            return response
        await response.write_eof()
        return response

    async def _lines(self, shard: ShardId, query: ReadEndedCalls) -> AsyncIterator[bytes]:
        first_ms = entry_order(query.first)[0] - MARGIN_MS
        end_ms = entry_order(query.end)[0] + MARGIN_MS
        number = 0
        async for call_id, state in self.store.ended(shard):
            number += 1
            try:
                call = decode_stored_call(state).call
                if call.created_ms <= end_ms and call.ended_ms >= first_ms:
                    async for lines in _events(call, await self.store.log(shard, call_id)):
                        yield lines
            except msgspec.DecodeError as error:  # of another version
                log.warning("ended call not decoded", call_id=call_id, error=str(error))
            if number % CALLS_PER_LINE == 0:
                yield b"\n"
            await asyncio.sleep(0)


async def _events(call: Call, lines: list[bytes]) -> AsyncIterator[bytes]:
    """Yield a call's events; an empty line for a turn without any keeps the connection alive."""
    events, is_complete = list[bytes](), False
    try:
        for number, step in enumerate(replay(lines), 1):
            emitted = [each.event for each in step.commands if isinstance(each, EmitEvent)]
            events += [msgspec.json.encode(each) + b"\n" for each in emitted]
            is_complete = is_complete or any(each.record for each in emitted)
            if number % STEPS_PER_TURN == 0:
                yield b"".join(events) or b"\n"
                events.clear()
                await asyncio.sleep(0)
    except Exception as error:  # noqa: BLE001 - a fault of the core must not cost the record
        log.warning("ended call not replayed", call_id=call.id, error=str(error))
    if not is_complete:
        events.append(msgspec.json.encode(last_event(call)) + b"\n")
    yield b"".join(events)
