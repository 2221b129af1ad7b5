"""The callback queue in this process's memory, with the semantics of the Lua scripts."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from engine.store.callback_queue import (
    CallbackQueueLimits,
    ClaimedBatch,
    DeadLetter,
    DueCall,
    GivenUp,
    PendingEvents,
    Settlement,
)
from engine.store.change import Change
from tests.harness.memory_store.versioned_documents import MemoryVersionedDocuments
from wire.documents.versioned import CALLBACK_ID
from wire.shard import ShardId

TOTAL = "*"
CheckToken = Callable[[ShardId, int], object]  # shard and token; raises Fenced


class _Call:
    def __init__(self, delivery_key: str, now_ms: int) -> None:
        self.delivery_key = delivery_key
        self.events: dict[int, bytes] = {}
        self.tries = 0
        self.due_ms = now_ms
        self.since_ms = now_ms


class _Shard:
    def __init__(self) -> None:
        self.calls: dict[str, _Call] = {}
        self.pending: Counter[str] = Counter()
        self.dead_letters: defaultdict[str, dict[str, DeadLetter]] = defaultdict(dict)
        self.dead_count = 0


class MemoryCallbackQueue:
    """Implements `CallbackQueue`; commits append to it."""

    def __init__(
        self,
        now_ms: Callable[[], int],
        check_token: CheckToken,
        limits: CallbackQueueLimits,
        documents: MemoryVersionedDocuments,
    ) -> None:
        self._now_ms = now_ms
        self._check_token = check_token
        self._limits = limits
        self._shards: defaultdict[ShardId, _Shard] = defaultdict(_Shard)
        self._documents = documents
        self._stopped = dict[str, int]()

    def append(self, shard: ShardId, change: Change) -> int:
        """Add a commit's callbacks; returns how many events the outbox had no room for."""
        state, overflowed = self._shards[shard], 0
        for seq, event in enumerate(change.callbacks, change.first_seq):
            if not self._add(state, change.call_id, change.delivery_key, seq, event):
                overflowed += 1
                self._dead_letter(
                    state, change.call_id, change.delivery_key, event, GivenUp(seq, "overflow")
                )
        return overflowed

    def bury(self, shard: ShardId, change: Change) -> None:
        """Add a commit's callbacks as dead letters, as if there were no room for them."""
        for seq, event in enumerate(change.callbacks, change.first_seq):
            self._dead_letter(
                self._shards[shard],
                change.call_id,
                change.delivery_key,
                event,
                GivenUp(seq, "overflow"),
            )

    def calls(self, shard: ShardId) -> int:
        """Count the calls with undelivered events."""
        return len(self._shards[shard].calls)

    async def claim_due(
        self, shard: ShardId, token: int, ahead_ms: int, limit: int
    ) -> ClaimedBatch:
        self._check_token(shard, token)
        state, now_ms = self._shards[shard], self._now_ms()
        due = sorted((call.due_ms, name) for name, call in state.calls.items())
        names = [name for look_ms, name in due if look_ms <= now_ms + ahead_ms][:limit]
        for name in names:
            state.calls[name].due_ms = now_ms + self._limits.claim_ms
        ages_ms = {name: max(0, now_ms - call.since_ms) for name, call in state.calls.items()}
        calls = tuple(
            DueCall(name, state.calls[name].delivery_key, ages_ms[name]) for name in names
        )
        return ClaimedBatch(calls, state.pending[TOTAL], max(ages_ms.values(), default=0))

    async def pending_events(self, shard: ShardId, call_id: str, limit: int) -> PendingEvents:
        call = self._shards[shard].calls.get(call_id)
        if call is None:
            return PendingEvents()
        return PendingEvents(
            call.delivery_key, call.tries, tuple(sorted(call.events.items())[:limit])
        )

    async def pending_calls(
        self, shard: ShardId, account: str, cursor: int
    ) -> tuple[int, list[str]]:
        assert not cursor
        calls = self._shards[shard].calls.items()
        return 0, [name for name, each in calls if _account_of(each.delivery_key) == account]

    async def remove_pending(self, shard: ShardId, call_id: str, numbers: Sequence[int]) -> int:
        state = self._shards[shard]
        call = state.calls.get(call_id)
        before = len(call.events) if call else 0
        if call is not None:
            self._settle(state, call, Settlement(call_id, delivered=tuple(numbers)))
        return before - (len(call.events) if call else 0)

    async def settle(self, shard: ShardId, token: int, settlements: Sequence[Settlement]) -> None:
        self._check_token(shard, token)
        for settlement in settlements:
            call = self._shards[shard].calls.get(settlement.call_id)
            if call is not None:
                self._settle(self._shards[shard], call, settlement)

    async def dead_letters(
        self, shard: ShardId, account: str, after: str, limit: int
    ) -> list[DeadLetter]:
        dead_letters = self._shards[shard].dead_letters[account].values()
        return [each for each in dead_letters if _entry_order(each.entry) > _entry_order(after)][
            :limit
        ]

    def remove_dead_letters(self, shard: ShardId, account: str, entries: Sequence[str]) -> int:
        dead_letters = self._shards[shard].dead_letters[account]
        return sum(dead_letters.pop(entry, None) is not None for entry in entries)

    async def resend(self, shard: ShardId, account: str, entries: Sequence[str], limit: int) -> int:
        state = self._shards[shard]
        dead_letters, resent = state.dead_letters[account], 0
        for entry in list(entries or list(dead_letters)[:limit]):
            each = dead_letters.get(entry)
            if each and self._add(state, each.call_id, each.delivery_key, each.seq, each.event):
                call = state.calls[each.call_id]
                call.tries, call.due_ms = 0, self._now_ms()
                del dead_letters[entry]
                resent += 1
        return resent

    async def account(self, account: str) -> tuple[bytes | None, int]:
        found = self._documents.table("callback", account).bodies().get(CALLBACK_ID)
        return found, self._stopped.get(account, -1)

    async def stop_account(self, account: str, put_ms: int) -> None:
        self._stopped[account] = put_ms

    def _add(self, state: _Shard, call_id: str, delivery_key: str, seq: int, event: bytes) -> bool:
        limits = self._limits
        free = limits.max_per_shard - state.pending[TOTAL]
        if state.pending[_account_of(delivery_key)] >= max(
            limits.min_per_account, free / limits.fair_share_divisor
        ):
            return False
        call = state.calls.get(call_id)
        if call is None:
            call = state.calls[call_id] = _Call(delivery_key, self._now_ms())
            call.due_ms += self._limits.claim_ms
        if seq not in call.events:
            _count(state, delivery_key, 1)
        call.events[seq] = event
        return True

    def _settle(self, state: _Shard, call: _Call, settlement: Settlement) -> None:
        for seq in settlement.delivered:
            self._remove(state, call, seq)
        for given_up in settlement.given_up:
            self._give_up(state, settlement.call_id, call, given_up)
        if settlement.give_up_reason:
            for seq in sorted(call.events):
                self._give_up(
                    state, settlement.call_id, call, GivenUp(seq, settlement.give_up_reason)
                )
        if not call.events:
            del state.calls[settlement.call_id]
            return
        if settlement.tries >= 0:
            call.tries = settlement.tries
        if settlement.retry_after_ms >= 0:
            call.due_ms = self._now_ms() + settlement.retry_after_ms

    def _give_up(self, state: _Shard, call_id: str, call: _Call, given_up: GivenUp) -> None:
        if given_up.seq in call.events:
            self._dead_letter(
                state, call_id, call.delivery_key, call.events[given_up.seq], given_up
            )
            self._remove(state, call, given_up.seq)

    def _remove(self, state: _Shard, call: _Call, seq: int) -> None:
        if call.events.pop(seq, None) is not None:
            _count(state, call.delivery_key, -1)

    def _dead_letter(
        self, state: _Shard, call_id: str, delivery_key: str, event: bytes, given_up: GivenUp
    ) -> None:
        state.dead_count += 1
        entry = f"{self._now_ms()}-{state.dead_count}"
        dead_letter = DeadLetter(
            entry, call_id, delivery_key, given_up.seq, event, given_up.reason, given_up.tries
        )
        dead_letters = state.dead_letters[delivery_key.partition(" ")[0]]
        dead_letters[entry] = dead_letter
        while len(dead_letters) > self._limits.max_dead_letters:
            del dead_letters[next(iter(dead_letters))]


def _count(state: _Shard, delivery_key: str, by: int) -> None:
    account = _account_of(delivery_key)
    state.pending[account] += by
    state.pending[TOTAL] += by
    if not state.pending[account]:
        del state.pending[account]


def _entry_order(entry: str) -> tuple[int, int]:
    at_ms, _, number = entry.partition("-")
    return int(at_ms or -1), int(number or -1)


def _account_of(delivery_key: str) -> str:
    return delivery_key.partition(" ")[0]
