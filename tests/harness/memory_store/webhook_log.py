"""The webhook log in this process's memory, with the semantics of the one in Redis."""

from collections.abc import Callable, Sequence

from msgspec import Struct, field

from engine.store.stream import entry_order
from engine.store.webhook_log import (
    MAX_OF_CALL,
    NEWEST,
    OLDEST,
    NewAttempt,
    StoredAttempt,
    WebhookLogLimits,
)


class _Entry(Struct, frozen=True):
    id: str
    call_id: str
    body: bytes

    @property
    def stored(self) -> StoredAttempt:
        return StoredAttempt(self.id, self.body)


class _AccountLog(Struct):
    entries: list[_Entry] = field(default_factory=list)
    last: tuple[int, int] = (0, 0)


class MemoryWebhookLog:
    """Implements `WebhookLogStore`."""

    def __init__(self, now_ms: Callable[[], int], limits: WebhookLogLimits) -> None:
        self._now_ms = now_ms
        self._limits = limits
        self._accounts: dict[str, _AccountLog] = {}

    async def append(self, account: str, attempts: Sequence[NewAttempt]) -> None:
        log, now_ms = self._accounts.setdefault(account, _AccountLog()), self._now_ms()
        for each in attempts:
            last_ms, number = log.last
            log.last = (now_ms, 0) if now_ms > last_ms else (last_ms, number + 1)
            log.entries.append(_Entry(f"{log.last[0]}-{log.last[1]}", each.call_id, each.body))
        log.entries = self._entries(account)[-self._limits.max_attempts :]

    async def read_before(self, account: str, before: str, limit: int) -> list[StoredAttempt]:
        entries = reversed(self._entries(account))
        is_all = before == NEWEST
        found = [e for e in entries if is_all or entry_order(e.id) < entry_order(before)]
        return [each.stored for each in found[:limit]]

    async def read_after(self, account: str, after: str, limit: int) -> list[StoredAttempt]:
        since = entry_order(after)
        found = [each for each in self._entries(account) if entry_order(each.id) > since]
        return [each.stored for each in found[:limit]]

    async def read(self, account: str, entry_id: str) -> StoredAttempt | None:
        return next((e.stored for e in self._entries(account) if e.id == entry_id), None)

    async def of_call(self, account: str, call_id: str, after: str = OLDEST) -> list[StoredAttempt]:
        found = [each.stored for each in self._entries(account) if each.call_id == call_id]
        earliest = entry_order(after)
        return [each for each in found[-MAX_OF_CALL:] if entry_order(each.id) > earliest]

    async def remove(self, account: str, entries: Sequence[str]) -> int:
        log = self._accounts.get(account, _AccountLog())
        left = [each for each in log.entries if each.id not in entries]
        removed, log.entries = len(log.entries) - len(left), left
        return removed

    def _entries(self, account: str) -> list[_Entry]:
        log, oldest = self._accounts.get(account), (self._now_ms() - self._limits.kept_ms, 0)
        entries = log.entries if log is not None else []
        return [each for each in entries if entry_order(each.id) >= oldest]
