"""The outbox's twin in memory: the same semantics as its scripts have."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from engine.store.change import Change
from engine.store.outbox import (
    ClaimedBatch,
    DeadLetter,
    DueCall,
    GivenUp,
    OutboxLimits,
    PendingEvents,
    Settlement,
)

ALL = "*"
CheckToken = Callable[[int, int], object]  # slot and token; raises Fenced


class _Call:
    def __init__(self, way: str, now_ms: int) -> None:
        self.delivery_key = way
        self.events: dict[int, bytes] = {}
        self.tries = 0
        self.due_ms = now_ms
        self.since_ms = now_ms


class _Slot:
    def __init__(self) -> None:
        self.calls: dict[str, _Call] = {}
        self.pending: Counter[str] = Counter()
        self.dead_letters: defaultdict[str, dict[str, DeadLetter]] = defaultdict(dict)
        self.dead_count = 0


class MemoryOutbox:
    """Implements `outbox.Outbox`, and takes what commits tell."""

    def __init__(self, now_ms: Callable[[], int], check: CheckToken, room: OutboxLimits) -> None:
        self._now_ms = now_ms
        self._check_token = check
        self._limits = room
        self._slots: defaultdict[int, _Slot] = defaultdict(_Slot)
        self._accounts: dict[str, bytes] = {}

    def append(self, slot: int, change: Change) -> int:
        """Note what a commit tells; returns how many events found no room."""
        kept, overflowed = self._slots[slot], 0
        for seq, event in enumerate(change.callbacks, change.first_seq):
            if not self._add(kept, change.call_id, change.delivery_key, seq, event):
                overflowed += 1
                self._dead_letter(
                    kept, change.call_id, change.delivery_key, event, GivenUp(seq, "overflow")
                )
        return overflowed

    async def claim_due(self, slot: int, token: int, ahead_ms: int, limit: int) -> ClaimedBatch:
        """See Outbox."""
        self._check_token(slot, token)
        kept, now_ms = self._slots[slot], self._now_ms()
        due = sorted((call.due_ms, name) for name, call in kept.calls.items())
        names = [name for look_ms, name in due if look_ms <= now_ms + ahead_ms][:limit]
        for name in names:
            kept.calls[name].due_ms = now_ms + self._limits.claim_ms
        ages_ms = {name: max(0, now_ms - call.since_ms) for name, call in kept.calls.items()}
        calls = tuple(DueCall(name, kept.calls[name].delivery_key, ages_ms[name]) for name in names)
        return ClaimedBatch(calls, kept.pending[ALL], max(ages_ms.values(), default=0))

    async def pending_events(self, slot: int, call_id: str, limit: int) -> PendingEvents:
        """See Outbox."""
        call = self._slots[slot].calls.get(call_id)
        if call is None:
            return PendingEvents()
        return PendingEvents(
            call.delivery_key, call.tries, tuple(sorted(call.events.items())[:limit])
        )

    async def settle(self, slot: int, token: int, settlements: Sequence[Settlement]) -> None:
        """See Outbox."""
        self._check_token(slot, token)
        for settlement in settlements:
            call = self._slots[slot].calls.get(settlement.call_id)
            if call is not None:
                self._settle(self._slots[slot], call, settlement)

    async def dead_letters(
        self, slot: int, account: str, after: str, limit: int
    ) -> list[DeadLetter]:
        """See Outbox."""
        letters = self._slots[slot].dead_letters[account].values()
        return [each for each in letters if _place(each.entry) > _place(after)][:limit]

    async def resend(self, slot: int, account: str, entries: Sequence[str], limit: int) -> int:
        """See Outbox."""
        kept = self._slots[slot]
        dead, resent = kept.dead_letters[account], 0
        for entry in list(entries or list(dead)[:limit]):
            letter = dead.get(entry)
            if letter is None:
                continue
            if self._add(kept, letter.call_id, letter.delivery_key, letter.seq, letter.event):
                call = kept.calls[letter.call_id]
                call.tries, call.due_ms = 0, self._now_ms()
                del dead[entry]
                resent += 1
        return resent

    async def swap_account(self, account: str, before: bytes | None, after: bytes | None) -> bool:
        """See Outbox."""
        if self._accounts.get(account) not in {before, after}:
            return False
        if after is None:
            self._accounts.pop(account, None)
        else:
            self._accounts[account] = after
        return True

    async def account(self, account: str) -> bytes | None:
        """See Outbox."""
        return self._accounts.get(account)

    def _add(self, kept: _Slot, call_id: str, way: str, seq: int, event: bytes) -> bool:
        room = self._limits
        free = room.max_per_slot - kept.pending[ALL]
        if kept.pending[_account_of(way)] >= max(
            room.min_per_account, free / room.fair_share_divisor
        ):
            return False
        call = kept.calls.get(call_id)
        if call is None:
            call = kept.calls[call_id] = _Call(way, self._now_ms())
            call.due_ms += self._limits.claim_ms
        if seq not in call.events:
            _count(kept, way, 1)
        call.events[seq] = event
        return True

    def _settle(self, kept: _Slot, call: _Call, settlement: Settlement) -> None:
        for seq in settlement.delivered:
            self._remove(kept, call, seq)
        for given in settlement.given_up:
            self._give_up(kept, settlement.call_id, call, given)
        if settlement.give_up_reason:
            for seq in sorted(call.events):
                self._give_up(
                    kept, settlement.call_id, call, GivenUp(seq, settlement.give_up_reason)
                )
        if not call.events:
            del kept.calls[settlement.call_id]
            return
        if settlement.tries >= 0:
            call.tries = settlement.tries
        if settlement.retry_after_ms >= 0:
            call.due_ms = self._now_ms() + settlement.retry_after_ms

    def _give_up(self, kept: _Slot, call_id: str, call: _Call, given: GivenUp) -> None:
        if given.seq in call.events:
            self._dead_letter(kept, call_id, call.delivery_key, call.events[given.seq], given)
            self._remove(kept, call, given.seq)

    def _remove(self, kept: _Slot, call: _Call, seq: int) -> None:
        if call.events.pop(seq, None) is not None:
            _count(kept, call.delivery_key, -1)

    def _dead_letter(
        self, kept: _Slot, call_id: str, way: str, event: bytes, given: GivenUp
    ) -> None:
        kept.dead_count += 1
        entry = f"{self._now_ms()}-{kept.dead_count}"
        letter = DeadLetter(entry, call_id, way, given.seq, event, given.reason, given.tries)
        letters = kept.dead_letters[way.partition(" ")[0]]
        letters[entry] = letter
        while len(letters) > self._limits.max_dead_letters:
            del letters[next(iter(letters))]


def _count(kept: _Slot, way: str, by: int) -> None:
    account = _account_of(way)
    kept.pending[account] += by
    kept.pending[ALL] += by
    if not kept.pending[account]:
        del kept.pending[account]


def _place(entry: str) -> tuple[int, int]:
    at_ms, _, number = entry.partition("-")
    return int(at_ms or -1), int(number or -1)


def _account_of(way: str) -> str:
    return way.partition(" ")[0]
