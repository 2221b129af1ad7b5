"""RPC operation that removes a number: from ended calls, events, logged requests and prompts.

All but prompts is in the store, so any engine can do it for any shard. A request works for SLICE_S
and says where the next one continues, however much is stored; that may be within the log of a call.
The first request removes prompts from the caches of all engines.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Self, TypeVar

import msgspec
import structlog
from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model.storage_format import decode_stored_call
from engine.rpc.lookup import shard_in
from engine.runtime.cluster.shard_map import ShardMap
from engine.store.store import Store
from engine.store.stream import START
from engine.store.webhook_log import StoredAttempt
from engine.webhooks.log.logged_attempt import decompress
from wire.erasure import EraseNumber, ErasePrompts, ErasureResult, NumberMatcher
from wire.shard import ShardId

log = structlog.get_logger()
T = TypeVar("T")
SLICE_S = 2.0  # a request may take 15 s
PAGE_SIZE = 1_000
ATTEMPTS_PER_TURN = 50
MAX_PENDING = 10_000  # events of a call: far more than one has
EVENTS_PER_TURN = 100  # then live calls get their turn on the event loop
LINES_PER_TURN = 500  # of a log; a longer one may take several requests


class _Owner(Struct, frozen=True):
    account_id: str = msgspec.field(default="", name="accountId")
    call_id: str = msgspec.field(default="", name="callId")


_owner_of = msgspec.json.Decoder(_Owner).decode


class _Work(Struct, frozen=True):
    """What is removed from which shard, and until when, on the loop's clock."""

    shard: ShardId
    body: EraseNumber
    matcher: NumberMatcher
    ends_s: float

    @property
    def account(self) -> str:
        return self.body.account

    @property
    def is_over(self) -> bool:
        return asyncio.get_running_loop().time() >= self.ends_s


class _CallsPosition(Struct, frozen=True):
    """A page of ended calls, and the calls of it whose long logs have been read.

    `lines` is how far the log of the last of them has been read; 0: to its end.
    """

    cursor: int = 0
    lines: int = 0
    read: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        cursor, _, rest = text.partition("/")
        lines, *read = rest.split("/")
        return cls(int(cursor or 0), int(lines or 0), tuple(read))

    def __str__(self) -> str:
        if not self.read:
            return str(self.cursor or "")
        return "/".join((str(self.cursor), str(self.lines), *self.read))

    @property
    def current(self) -> str:
        """The call whose log has been read in part."""
        return self.read[-1] if self.lines else ""

    def after(self, call_id: str, lines: int) -> Self:
        """Return the position after so many lines of a call's log; 0: all of them."""
        read = self.read if call_id in self.read else (*self.read, call_id)
        return replace(self, lines=lines, read=read)


class _Search(Struct, frozen=True):
    """Whether a number was found in a call, and how many lines of its log were read."""

    is_found: bool = False
    lines: int = 0
    is_whole: bool = True  # whether nothing is left to read

    @property
    def is_long(self) -> bool:
        return self.lines > LINES_PER_TURN


# Removes what a page has from a position on; returns how much, and the next position; "": the end.
ErasePage = Callable[[_Work, str], Awaitable[tuple[int, str]]]


class ErasureHandlers(Struct, frozen=True):
    store: Store
    shards: ShardMap
    erase_prompts: Callable[[ErasePrompts], Awaitable[tuple[int, int]]]
    slice_s: float = SLICE_S

    async def erase(self, _request: web.Request, body: EraseNumber) -> ErasureResult:
        """Remove a number from a part of a shard; live calls stay."""
        shards = self.shards.all
        is_first = body.shard is None and not body.cursor
        shard = shards[0] if body.shard is None else shard_in(self.shards, body.shard)
        wanted = ErasePrompts(body.account, body.number, body.region)
        prompts, silent = await self.erase_prompts(wanted) if is_first else (0, 0)
        matcher = NumberMatcher(body.number, body.region)
        ends_s = asyncio.get_running_loop().time() + self.slice_s
        parts = self._parts(has_attempts=shard == shards[0])
        removed, cursor = await _run(parts, _Work(shard, body, matcher, ends_s))
        following = shard if cursor else next((each for each in shards if each > shard), None)
        return ErasureResult(
            str(following) if following else None,
            cursor,
            ended_calls=removed["calls"],
            events=removed["events"],
            dead_letters=removed["pending"] + removed["dead_letters"],
            attempts=removed["attempts"],
            prompts=prompts,
            silent_engines=silent,
        )

    def _parts(self, *, has_attempts: bool) -> Mapping[str, ErasePage]:
        """Return what is to be done, in order; the log of attempts belongs to no shard."""
        parts: dict[str, ErasePage] = {
            "calls": self._erase_calls,
            "events": self._erase_events,
            "pending": self._erase_pending,
            "dead_letters": self._erase_dead_letters,
        }
        return {**parts, "attempts": self._erase_attempts} if has_attempts else parts

    async def _erase_calls(self, work: _Work, position: str) -> tuple[int, str]:
        """Remove calls of a page; its long logs take several requests, the others are one step."""
        at, removed = _CallsPosition.parse(position), 0
        cursor, page = await self.store.ended_page(work.shard, at.cursor)
        current, first, done = at.current, at.lines, {*at.read} - {at.current}
        for call_id, state in sorted(page, key=lambda each: each[0] != current):
            if call_id in done:
                continue
            search = await self._search(work, call_id, state, first if call_id == current else 0)
            if search.is_found:
                await self.store.forget(work.shard, call_id)
                removed += 1
            elif search.is_long:
                at = at.after(call_id, 0 if search.is_whole else search.lines)
                if work.is_over:
                    return removed, str(at)
            await asyncio.sleep(0)
        return removed, str(cursor or "")

    async def _search(self, work: _Work, call_id: str, state: bytes, first: int) -> _Search:
        """Look for the number in a call and in its log, from a line on, while there is time."""
        try:
            call = decode_stored_call(state).call
        except msgspec.DecodeError as error:
            log.warning("stored call not read", call_id=call_id, error=str(error))
            return _Search()
        if call.account != work.account:
            return _Search()
        if not first and work.matcher.is_in_json(msgspec.json.encode(call)):
            return _Search(is_found=True)
        search = _Search(lines=first)
        while page := await self.store.log(work.shard, call_id, search.lines, LINES_PER_TURN):
            search = _Search(await _is_in_lines(page, work.matcher), search.lines + len(page))
            if search.is_found:
                break
            if search.is_long and work.is_over:
                return replace(search, is_whole=False)
            await asyncio.sleep(0)
        return search

    async def _erase_events(self, work: _Work, position: str) -> tuple[int, str]:
        stream, account = self.store.stream, work.account.encode()
        page = await stream.read_after({work.shard: position or START}, limit=EVENTS_PER_TURN)
        if not page:
            return 0, ""
        live = {call_id async for call_id, _node, _state in self.store.live(work.shard)}
        likely = [(entry, event) for _, entry, event in page if account in event]
        found = await _of_number(
            likely, lambda each: _is_of(work.account, each[1], work.matcher, live)
        )
        removed = await stream.remove(work.shard, [entry for entry, _ in found]) if found else 0
        return removed, page[-1][1]

    async def _erase_pending(self, work: _Work, position: str) -> tuple[int, str]:
        """Remove events that a customer's server has not accepted yet."""
        callbacks, removed = self.store.callback_queue, 0
        cursor, calls = await callbacks.pending_calls(work.shard, work.account, int(position or 0))
        if not calls:
            return 0, str(cursor or "")
        live = {call_id async for call_id, _node, _state in self.store.live(work.shard)}
        for call_id in (each for each in calls if each not in live):
            pending = await callbacks.pending_events(work.shard, call_id, MAX_PENDING)
            found = await _of_number(pending.events, lambda each: work.matcher.is_in_json(each[1]))
            if found:
                sequence_numbers = [seq for seq, _ in found]
                removed += await callbacks.remove_pending(work.shard, call_id, sequence_numbers)
            await asyncio.sleep(0)
        return removed, str(cursor or "")

    async def _erase_dead_letters(self, work: _Work, position: str) -> tuple[int, str]:
        page = await self.store.callback_queue.dead_letters(
            work.shard, work.account, position, PAGE_SIZE
        )
        found = await _of_number(page, lambda each: work.matcher.is_in_json(each.event))
        ids = [each.entry for each in found]
        removed = await self.store.remove_dead_letters(work.shard, work.account, ids) if ids else 0
        return removed, page[-1].entry if page else ""

    async def _erase_attempts(self, work: _Work, position: str) -> tuple[int, str]:
        log = self.store.webhook_log
        page = await log.read_after(work.account, position or START, ATTEMPTS_PER_TURN)
        found = await _of_number(page, lambda each: _has_number(each, work.matcher))
        removed = await log.remove(work.account, [each.id for each in found]) if found else 0
        return removed, page[-1].id if page else ""


async def _is_in_lines(lines: Sequence[bytes], matcher: NumberMatcher) -> bool:
    """Return whether any line of a log has the number; a line may have a whole tree of verbs."""
    return await asyncio.to_thread(lambda: any(map(matcher.is_in_msgpack, lines)))


async def _of_number(items: Iterable[T], has_number: Callable[[T], bool]) -> list[T]:
    """Return what has the number; live calls do not wait for the texts that customers choose."""
    return await asyncio.to_thread(lambda: [each for each in items if has_number(each)])


async def _run(parts: Mapping[str, ErasePage], work: _Work) -> tuple[Counter[str], str]:
    """Remove page by page for a while; return how much of each part, and the next cursor."""
    removed, names = Counter[str](), list(parts)
    name, _, position = work.body.cursor.partition(":")
    for part in names[names.index(name) if name in parts else 0 :]:
        while True:
            count, position = await parts[part](work, position)
            removed[part] += count
            is_last = part == names[-1] and not position
            if work.is_over and not is_last:
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
