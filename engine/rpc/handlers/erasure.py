"""RPC operation that removes a number from the store: ended calls, events, logged requests.

Everything is in the store, so any engine can do it for any shard. A request works for SLICE_S and
says where the next one continues, however much is stored.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence

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
SLICE_S = 2.0  # a request may take 15 s
PAGE_SIZE = 1_000
ATTEMPTS_PER_TURN = 50
EVENTS_PER_TURN = 100  # then live calls get their turn on the event loop
LINES_PER_TURN = 500


class _Owner(Struct, frozen=True):
    account_id: str = msgspec.field(default="", name="accountId")
    call_id: str = msgspec.field(default="", name="callId")


_owner_of = msgspec.json.Decoder(_Owner).decode


class _Work(Struct, frozen=True):
    """What is removed from which shard."""

    shard: ShardId
    body: EraseNumber
    matcher: NumberMatcher

    @property
    def account(self) -> str:
        return self.body.account


# Removes what a page has from a position on; returns how much, and the next position; "": the end.
ErasePage = Callable[[_Work, str], Awaitable[tuple[int, str]]]


class ErasureHandlers(Struct, frozen=True):
    store: Store
    shards: ShardMap
    slice_s: float = SLICE_S

    async def erase(self, _request: web.Request, body: EraseNumber) -> ErasureResult:
        """Remove a number from a part of a shard; live calls stay."""
        shards = self.shards.all
        shard = shards[0] if body.shard is None else shard_in(self.shards, body.shard)
        work = _Work(shard, body, NumberMatcher(body.number, body.country, body.is_national))
        parts = self._parts(has_attempts=shard == shards[0])
        removed, cursor = await _run(parts, work, self.slice_s)
        following = shard if cursor else next((each for each in shards if each > shard), None)
        return ErasureResult(
            str(following) if following else None,
            cursor,
            ended_calls=removed["calls"],
            events=removed["events"],
            dead_letters=removed["dead_letters"],
            attempts=removed["attempts"],
        )

    def _parts(self, *, has_attempts: bool) -> Mapping[str, ErasePage]:
        """Return what is to be done, in order; the log of attempts belongs to no shard."""
        parts: dict[str, ErasePage] = {
            "calls": self._erase_calls,
            "events": self._erase_events,
            "dead_letters": self._erase_dead_letters,
        }
        return {**parts, "attempts": self._erase_attempts} if has_attempts else parts

    async def _erase_calls(self, work: _Work, position: str) -> tuple[int, str]:
        cursor, page = await self.store.ended_page(work.shard, int(position or 0))
        removed = 0
        for call_id, state in page:
            if await self._is_of_number(work.shard, work.body, call_id, state, work.matcher):
                await self.store.forget(work.shard, call_id)
                removed += 1
            await asyncio.sleep(0)
        return removed, str(cursor or "")

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

    async def _erase_events(self, work: _Work, position: str) -> tuple[int, str]:
        stream, account = self.store.stream, work.account.encode()
        page = await stream.read_after({work.shard: position or START}, limit=EVENTS_PER_TURN)
        if not page:
            return 0, ""
        live = {call_id async for call_id, _node, _state in self.store.live(work.shard)}
        found = [
            entry
            for _, entry, event in page
            if account in event and _is_of(work.account, event, work.matcher, live)
        ]
        removed = await stream.remove(work.shard, found) if found else 0
        return removed, page[-1][1]

    async def _erase_dead_letters(self, work: _Work, position: str) -> tuple[int, str]:
        page = await self.store.outbox.dead_letters(work.shard, work.account, position, PAGE_SIZE)
        found = [each.entry for each in page if work.matcher.is_in_json(each.event)]
        removed = (
            await self.store.remove_dead_letters(work.shard, work.account, found) if found else 0
        )
        return removed, page[-1].entry if page else ""

    async def _erase_attempts(self, work: _Work, position: str) -> tuple[int, str]:
        log = self.store.webhook_log
        page = await log.read_after(work.account, position or START, ATTEMPTS_PER_TURN)
        found = [each.id for each in page if _has_number(each, work.matcher)]
        removed = await log.remove(work.account, found) if found else 0
        return removed, page[-1].id if page else ""


async def _run(
    parts: Mapping[str, ErasePage], work: _Work, slice_s: float
) -> tuple[Counter[str], str]:
    """Remove page by page for a while; return how much of each part, and the next cursor."""
    loop, removed, names = asyncio.get_running_loop(), Counter[str](), list(parts)
    ends_s = loop.time() + slice_s
    name, _, position = work.body.cursor.partition(":")
    for part in names[names.index(name) if name in parts else 0 :]:
        while True:
            count, position = await parts[part](work, position)
            removed[part] += count
            is_last = part == names[-1] and not position
            if loop.time() >= ends_s and not is_last:
                return removed, f"{part}:{position}" if position else f"{_after(names, part)}:"
            if not position:
                break
            await asyncio.sleep(0)
    return removed, ""


def _after(names: Sequence[str], part: str) -> str:
    return names[names.index(part) + 1]


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
