"""RPC operations that replay a call's log through the current core and compare the result.

Everything is in the store, so any engine can audit any call.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import msgspec
import structlog
from aiohttp import web
from msgspec import Struct

from engine.calls.model.commands import EmitEvent
from engine.calls.model.storage_format import StoredCall, decode_stored_call
from engine.calls.replay_audit import (
    EventComparison,
    Mismatch,
    ReplayStep,
    compare_decisions,
    compare_events,
    compare_result,
    find_gap,
    replay,
)
from engine.rpc.problems import Conflict, NotFound
from engine.rpc.views.calls import tagged_fields
from engine.rpc.views.timelines import Pieces, TimelineTurns, masked
from engine.runtime.cluster.shard_map import ShardMap
from engine.store.store import Store
from wire.call_id_format import shard_of
from wire.decoding.errors import BadInput
from wire.events.call_events import CallEvent
from wire.shard import ShardId
from wire.views import EndedCalls, Replay, ReplayDifference

log = structlog.get_logger()
MAX_DIFFERENCES = 20  # later differences mostly follow from the first
MAX_LISTED = 10_000
PAGE_SIZE = 1_000
MAX_CLOCK_SKEW_MS = 60_000  # the store's clock may be ahead of an engine's
NOT_COMPARED = EventComparison((), 0)
_event = msgspec.json.Decoder(CallEvent)


class _ReplayRun(Struct):
    """What a replay has found; of its steps only those that a result may show are kept.

    A log may have 200,000 lines, and each step has a whole call.
    """

    lines: int = 0
    steps: int = 0
    compared: int = 0
    last: ReplayStep | None = None
    kept: dict[int, ReplayStep] = {}  # by index: those with events, and those that differ
    differing: list[Mismatch] = []
    gap: int | None = None
    has_failed: bool = False

    @property
    def is_complete(self) -> bool:
        return self.gap is None and not self.has_failed

    def add(self, step: ReplayStep) -> None:
        """Compare the next step."""
        found = list(compare_decisions([step], self.steps))
        self.differing += found[: MAX_DIFFERENCES - len(self.differing)]
        if found or any(isinstance(each, EmitEvent) for each in step.commands):
            self.kept[self.steps] = step
        self.compared += step.digest is not None
        self.last = step
        self.steps += 1

    def shown(self, index: int) -> ReplayStep | None:
        """Return a step that a difference is about."""
        return self.last if index == self.steps - 1 else self.kept.get(index)


class AuditHandlers(Struct, frozen=True):
    store: Store
    shards: ShardMap
    turns: TimelineTurns  # as a replay costs what a timeline costs

    async def ended(self, request: web.Request) -> EndedCalls:
        """List the latest ended calls that are still on the stream, or those of one account."""
        limit = _limit(request.query.get("limit", "100"))
        found: list[CallEvent] = []
        for shard in self.shards.all:
            found += await self._latest_ended(shard, limit, request.query.get("account"))
        found.sort(key=lambda event: -event.timestamp)
        return EndedCalls(tuple(event.call_id for event in found[:limit]))

    async def replay(self, request: web.Request) -> Replay:
        """Audit a live or ended call; with `events=false` without the events that it published.

        These are read from the stream of the call's shard, which may be long.
        """
        call_id, account = request.match_info["call"], request.query.get("account")
        shard = shard_of(call_id)
        if shard is None or not self.shards.has(shard):
            raise NotFound(f"no call {call_id}")
        state = await self.store.read(shard, call_id)
        record = _stored_call(call_id, state) if state is not None else None
        if record is None or account not in {None, record.call.account}:
            raise NotFound(f"no call {call_id}")
        async with self.turns.turn(record.call.account):
            # Entries logged after the record was read are ignored.
            lines = await self.store.log(shard, call_id, 0, record.log_length)
            run = await _run(call_id, lines)
            compared = NOT_COMPARED
            if request.query.get("events") != "false":
                events = await self._published_events(shard, record)
                compared = await asyncio.to_thread(
                    compare_events, run.kept.items(), events, is_complete=run.is_complete
                )
            return _result(record, run, compared)

    async def _published_events(self, shard: ShardId, record: StoredCall) -> list[CallEvent]:
        """Read the call's events from the stream, up to its last event or the end."""
        call, found = record.call, list[CallEvent]()
        about = f'"{call.id}"'.encode()
        position = f"{max(0, call.created_ms - MAX_CLOCK_SKEW_MS)}-0"
        while len(found) < call.event_seq:
            page = await self.store.stream.read_after({shard: position}, limit=PAGE_SIZE)
            if not page:
                break
            position = page[-1][1]
            mine = _decode(body for _, _, body in page if about in body)
            found += [
                e for e in mine if e.call_id == call.id and e.sequence_number < call.event_seq
            ]
        return found

    async def _latest_ended(
        self, shard: ShardId, limit: int, account: str | None
    ) -> list[CallEvent]:
        found: list[CallEvent] = []
        position = "+"
        while len(found) < limit:
            page = await self.store.stream.read_before(shard, position, PAGE_SIZE)
            if not page:
                break
            position = page[-1][0]
            ends = _decode(body for _, body in page if b'"event":"completed"' in body)
            found += [end for end in ends if account in {None, end.account_id}]
        return found[:limit]


def _decode(bodies: Iterable[bytes]) -> Iterator[CallEvent]:
    """Decode events; skip kinds that only a newer version knows."""
    for body in bodies:
        with suppress(msgspec.ValidationError):
            yield _event.decode(body)


def _limit(given: str) -> int:
    if given.isascii() and given.isdecimal() and 1 <= int(given) <= MAX_LISTED:
        return int(given)
    raise BadInput("limit", f"expected a number from 1 to {MAX_LISTED}")


def _stored_call(call_id: str, state: bytes) -> StoredCall:
    try:
        return decode_stored_call(state)
    except msgspec.DecodeError as error:
        log.warning("stored call not read", call_id=call_id, error=str(error))
        raise Conflict("this version can't read how the call is stored") from None


async def _run(call_id: str, lines: Sequence[bytes]) -> _ReplayRun:
    run, pieces = _ReplayRun(lines=len(lines), gap=find_gap(lines)), Pieces()
    try:
        for step in replay(lines):
            run.add(step)
            await pieces.add(len(lines[run.steps]))  # the first line is the call
    except Exception:  # a core that fails on a log is a finding
        log.exception("replay failed", call_id=call_id, line=run.steps + 1)
        run.has_failed = True
    return run


def _result(record: StoredCall, run: _ReplayRun, compared: EventComparison) -> Replay:
    found = [("commands", each) for each in run.differing]
    if run.has_failed:
        failure = Mismatch("the core fails on the next line; see the engine's log", run.steps - 1)
        found.append(("commands", failure))
    found += [("events", each) for each in compared.mismatches]
    if run.is_complete:
        found += [("state", each) for each in compare_result(run.last, run.steps, record)]
    return Replay(
        call_id=record.call.id,
        is_same=not found,
        lines=run.lines,
        compared=run.compared,
        events=record.call.event_seq,
        trimmed=compared.trimmed,
        gap=run.gap,
        is_live=not record.call.is_ended,
        differences=tuple(_difference(*each, run) for each in found[:MAX_DIFFERENCES]),
    )


def _difference(about: str, mismatch: Mismatch, run: _ReplayRun) -> ReplayDifference:
    step = None if mismatch.step is None else run.shown(mismatch.step)
    if mismatch.step is None or step is None:
        return ReplayDifference(about, mismatch.detail)
    return ReplayDifference(
        about,
        mismatch.detail,
        line=mismatch.step + 1,
        at_ms=step.at_ms,
        event=masked(tagged_fields(step.event)),
        commands=tuple(masked(tagged_fields(each)) for each in step.commands)
        if about == "commands"
        else (),
    )
