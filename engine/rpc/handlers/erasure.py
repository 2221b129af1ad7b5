"""RPC operation that removes a number from the store: ended calls, events, logged requests.

Everything is in the store, so any engine can do it for any shard.
"""

import asyncio

import msgspec
import structlog
from aiohttp import web
from msgspec import Struct

from engine.calls.model.storage_format import decode_stored_call
from engine.rpc.lookup import shard_in
from engine.runtime.cluster.shard_map import ShardMap
from engine.store.store import Store
from engine.store.stream import START
from engine.store.webhook_log import StoredAttempt
from engine.webhooks.log.codec import decompress
from wire.erasure import EraseNumber, ErasureResult, NumberMatcher
from wire.shard import ShardId

log = structlog.get_logger()
PAGE_SIZE = 1_000
ATTEMPTS_PER_TURN = 50
EVENTS_PER_TURN = 100  # then live calls get their turn on the event loop
LINES_PER_TURN = 500


class _Owner(Struct, frozen=True):
    account_id: str = msgspec.field(default="", name="accountId")
    call_id: str = msgspec.field(default="", name="callId")


_owner_of = msgspec.json.Decoder(_Owner).decode


class ErasureHandlers(Struct, frozen=True):
    store: Store
    shards: ShardMap

    async def erase(self, _request: web.Request, body: EraseNumber) -> ErasureResult:
        """Remove a number from a shard; live calls stay."""
        shards = self.shards.all
        shard = shards[0] if body.shard is None else shard_in(self.shards, body.shard)
        matcher = NumberMatcher(body.number, body.country, body.is_national)
        calls = await self._erase_calls(shard, body, matcher)
        live = {call_id async for call_id, _node, _state in self.store.live(shard)}
        events = await self._erase_events(shard, body, matcher, live)
        dead_letters = await self._erase_dead_letters(shard, body, matcher)
        attempts = await self._erase_attempts(body.account, matcher) if shard == shards[0] else 0
        following = next((each for each in shards if each > shard), None)
        return ErasureResult(
            str(following) if following else None, calls, events, dead_letters, attempts
        )

    async def _erase_calls(self, shard: ShardId, body: EraseNumber, matcher: NumberMatcher) -> int:
        removed = 0
        async for call_id, state in self.store.ended(shard):
            if await self._is_of_number(shard, body, call_id, state, matcher):
                await self.store.forget(shard, call_id)
                removed += 1
        return removed

    async def _is_of_number(
        self, shard: ShardId, body: EraseNumber, call_id: str, state: bytes, matcher: NumberMatcher
    ) -> bool:
        try:
            call = decode_stored_call(state).call
        except msgspec.DecodeError as error:
            log.warning("stored call not read", call_id=call_id, error=str(error))
            return False
        if call.account != body.account:
            return False
        if matcher.is_in_json(msgspec.json.encode(call)):
            return True
        for number, line in enumerate(await self.store.log(shard, call_id), 1):
            if matcher.is_in(line.decode(errors="replace")):
                return True
            if number % LINES_PER_TURN == 0:
                await asyncio.sleep(0)
        return False

    async def _erase_events(
        self, shard: ShardId, body: EraseNumber, matcher: NumberMatcher, live: set[str]
    ) -> int:
        removed, position, account = 0, START, body.account.encode()
        stream = self.store.stream
        while page := await self.store.stream.read_after({shard: position}, limit=EVENTS_PER_TURN):
            position = page[-1][1]
            found = [
                entry
                for _, entry, event in page
                if account in event and _is_of(body.account, event, matcher, live)
            ]
            if found:
                removed += await stream.remove(shard, found)
        return removed

    async def _erase_dead_letters(
        self, shard: ShardId, body: EraseNumber, matcher: NumberMatcher
    ) -> int:
        removed, after, outbox = 0, "", self.store.outbox
        while page := await outbox.dead_letters(shard, body.account, after, PAGE_SIZE):
            after = page[-1].entry
            found = [each.entry for each in page if matcher.is_in_json(each.event)]
            if found:
                removed += await self.store.remove_dead_letters(shard, body.account, found)
        return removed

    async def _erase_attempts(self, account: str, matcher: NumberMatcher) -> int:
        removed, after, log = 0, START, self.store.webhook_log
        while page := await log.read_after(account, after, ATTEMPTS_PER_TURN):
            after = page[-1].id
            if found := [each.id for each in page if _has_number(each, matcher)]:
                removed += await log.remove(account, found)
            await asyncio.sleep(0)
        return removed


def _has_number(stored: StoredAttempt, matcher: NumberMatcher) -> bool:
    """Return whether an attempt contains the number; one that cannot be read may."""
    attempt = decompress(stored.body)
    if attempt is None:
        return True
    return matcher.is_in_json(msgspec.json.encode(attempt.view(stored.id)))


def _is_of(account: str, event: bytes, matcher: NumberMatcher, live: set[str]) -> bool:
    """Return whether an event is of the account and the number; not of a live call."""
    try:
        owner = _owner_of(event)
    except msgspec.DecodeError:
        return False
    is_erased = owner.account_id == account and owner.call_id not in live
    return is_erased and matcher.is_in_json(event)
