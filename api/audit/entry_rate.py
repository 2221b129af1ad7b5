"""The rate at which an account adds entries to the audit trail.

Its rows are never deleted, so their number has to be limited. Of what exceeds the rate, there is
one entry a minute for each caller, action and outcome: the last one, with how many there were.
"""

from msgspec import Struct
from msgspec.structs import replace

from api.common.clock import Clock
from api.common.token_buckets import Rate, TokenBuckets

BURST_MINUTES = 10
FOLD_MS = 60_000
MAX_FOLDED = 10_000  # kinds of entries in a minute; of a further one, only the log says more


class AuditEntry(Struct, frozen=True):
    """One action: of a key (`key:ID`), a do-not-call token or an administrator (`user:NAME`)."""

    account_id: str | None
    at_ms: int
    actor: str
    action: str
    object: str
    outcome: str
    agent_id: str | None = None
    address: str = ""
    request_id: str = ""


class _Folded(Struct):
    last: AuditEntry
    count: int


class EntryRate:
    def __init__(self, per_min: int, now_ms: Clock) -> None:
        self._buckets = TokenBuckets(Rate(per_min / 60, per_min * BURST_MINUTES), now_ms)
        self._now_ms = now_ms
        self._folded: dict[tuple[str | None, str, str, str], _Folded] = {}
        self._since_ms = now_ms()

    def admits(self, entry: AuditEntry) -> bool:
        """Return whether an entry is within the rate; another one is counted."""
        if entry.account_id is None or self._buckets.take(entry.account_id):
            return True
        kind = (entry.account_id, entry.actor, entry.action, entry.outcome)
        folded = self._folded.get(kind)
        if folded is not None:
            folded.last, folded.count = entry, folded.count + 1
        elif len(self._folded) < MAX_FOLDED:
            self._folded[kind] = _Folded(entry, 1)
        return False

    def take_folded(self, *, at_end: bool = False) -> list[AuditEntry]:
        """Return entries for what was counted, once a minute and at the end."""
        now_ms = self._now_ms()
        if not at_end and now_ms - self._since_ms < FOLD_MS:
            return []
        self._since_ms, taken = now_ms, self._folded
        self._folded = {}
        return [
            replace(each.last, object=f"{each.count} entries, the last: {each.last.object}")
            for each in taken.values()
        ]
