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
        self.way = way
        self.events: dict[int, bytes] = {}
        self.tries = 0
        self.look_ms = now_ms
        self.since_ms = now_ms


class _Slot:
    def __init__(self) -> None:
        self.calls: dict[str, _Call] = {}
        self.waiting: Counter[str] = Counter()
        self.dead: defaultdict[str, dict[str, DeadLetter]] = defaultdict(dict)
        self.buried = 0


class MemoryOutbox:
    """Implements `outbox.Outbox`, and takes what commits tell."""

    def __init__(self, now_ms: Callable[[], int], check: CheckToken, room: OutboxLimits) -> None:
        self._now_ms = now_ms
        self._check = check
        self._room = room
        self._slots: defaultdict[int, _Slot] = defaultdict(_Slot)
        self._accounts: dict[str, bytes] = {}

    def tell(self, slot: int, change: Change) -> int:
        """Note what a commit tells; returns how many events found no room."""
        kept, overflowed = self._slots[slot], 0
        for seq, event in enumerate(change.due, change.first_due):
            if not self._await(kept, change.call_id, change.way, seq, event):
                overflowed += 1
                self._bury(kept, change.call_id, change.way, event, GivenUp(seq, "overflow"))
        return overflowed

    async def take(self, slot: int, token: int, ahead_ms: int, limit: int) -> ClaimedBatch:
        """See Outbox."""
        self._check(slot, token)
        kept, now_ms = self._slots[slot], self._now_ms()
        due = sorted((call.look_ms, name) for name, call in kept.calls.items())
        names = [name for look_ms, name in due if look_ms <= now_ms + ahead_ms][:limit]
        for name in names:
            kept.calls[name].look_ms = now_ms + self._room.hold_ms
        ages_ms = {name: max(0, now_ms - call.since_ms) for name, call in kept.calls.items()}
        calls = tuple(DueCall(name, kept.calls[name].way, ages_ms[name]) for name in names)
        return ClaimedBatch(calls, kept.waiting[ALL], max(ages_ms.values(), default=0))

    async def waiting(self, slot: int, call_id: str, limit: int) -> PendingEvents:
        """See Outbox."""
        call = self._slots[slot].calls.get(call_id)
        if call is None:
            return PendingEvents()
        return PendingEvents(call.way, call.tries, tuple(sorted(call.events.items())[:limit]))

    async def settle(self, slot: int, token: int, settlements: Sequence[Settlement]) -> None:
        """See Outbox."""
        self._check(slot, token)
        for settlement in settlements:
            call = self._slots[slot].calls.get(settlement.call_id)
            if call is not None:
                self._settle(self._slots[slot], call, settlement)

    async def dead(self, slot: int, account: str, after: str, limit: int) -> list[DeadLetter]:
        """See Outbox."""
        letters = self._slots[slot].dead[account].values()
        return [each for each in letters if _place(each.entry) > _place(after)][:limit]

    async def resend(self, slot: int, account: str, entries: Sequence[str], limit: int) -> int:
        """See Outbox."""
        kept = self._slots[slot]
        dead, resent = kept.dead[account], 0
        for entry in list(entries or list(dead)[:limit]):
            letter = dead.get(entry)
            if letter is None:
                continue
            if self._await(kept, letter.call_id, letter.way, letter.seq, letter.event):
                call = kept.calls[letter.call_id]
                call.tries, call.look_ms = 0, self._now_ms()
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

    def _await(self, kept: _Slot, call_id: str, way: str, seq: int, event: bytes) -> bool:
        room = self._room
        free = room.of_slot - kept.waiting[ALL]
        if kept.waiting[_account_of(way)] >= max(room.share, free / room.parts):
            return False
        call = kept.calls.get(call_id)
        if call is None:
            call = kept.calls[call_id] = _Call(way, self._now_ms())
            call.look_ms += self._room.hold_ms
        if seq not in call.events:
            _count(kept, way, 1)
        call.events[seq] = event
        return True

    def _settle(self, kept: _Slot, call: _Call, settlement: Settlement) -> None:
        for seq in settlement.done:
            self._remove(kept, call, seq)
        for given in settlement.dead:
            self._give_up(kept, settlement.call_id, call, given)
        if settlement.rest:
            for seq in sorted(call.events):
                self._give_up(kept, settlement.call_id, call, GivenUp(seq, settlement.rest))
        if not call.events:
            del kept.calls[settlement.call_id]
            return
        if settlement.tries >= 0:
            call.tries = settlement.tries
        if settlement.after_ms >= 0:
            call.look_ms = self._now_ms() + settlement.after_ms

    def _give_up(self, kept: _Slot, call_id: str, call: _Call, given: GivenUp) -> None:
        if given.seq in call.events:
            self._bury(kept, call_id, call.way, call.events[given.seq], given)
            self._remove(kept, call, given.seq)

    def _remove(self, kept: _Slot, call: _Call, seq: int) -> None:
        if call.events.pop(seq, None) is not None:
            _count(kept, call.way, -1)

    def _bury(self, kept: _Slot, call_id: str, way: str, event: bytes, given: GivenUp) -> None:
        kept.buried += 1
        entry = f"{self._now_ms()}-{kept.buried}"
        letter = DeadLetter(entry, call_id, way, given.seq, event, given.reason, given.tries)
        letters = kept.dead[way.partition(" ")[0]]
        letters[entry] = letter
        while len(letters) > self._room.dead:
            del letters[next(iter(letters))]


def _count(kept: _Slot, way: str, by: int) -> None:
    account = _account_of(way)
    kept.waiting[account] += by
    kept.waiting[ALL] += by
    if not kept.waiting[account]:
        del kept.waiting[account]


def _place(entry: str) -> tuple[int, int]:
    at_ms, _, number = entry.partition("-")
    return int(at_ms or -1), int(number or -1)


def _account_of(way: str) -> str:
    return way.partition(" ")[0]
