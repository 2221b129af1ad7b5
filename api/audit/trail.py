"""The audit trail: rows that are only added, in groups, and pages of them.

The database refuses to change or delete a row (triggers of migration 0001).

Entries wait in memory for a moment, so that a request does not wait for its row. Each is in the log
of requests, too: one that a crash loses is not lost for an operator.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Self

import sqlalchemy as sa
import structlog
from msgspec import Struct, structs
from msgspec.structs import replace
from starlette.types import Scope

from api.common.clock import Clock
from api.common.errors import ApiError
from api.common.token_buckets import Rate, TokenBuckets
from api.db.columns import Key, Millis
from api.db.database import Database, metadata
from api.http.services import CommonServices
from base.limit import Limit

BURST_MINUTES = 10
FOLD_MS = 60_000
MAX_FOLDED = 10_000  # kinds of entries in a minute; of a further one, only the log says more
MAX_SCANNED: Annotated[
    int,
    Limit("request", "a short page", "Rows of the audit trail that it reads."),
] = 10_000
FLUSH_INTERVAL_S = 1.0
MAX_WAITING = 10_000  # beyond them the oldest are dropped, while the database is down
MAX_OBJECT_CHARS = 512
MAX_ACCOUNT_CHARS = 64  # a mistyped account may be longer
log = structlog.get_logger()
entries = sa.Table(
    "audit",
    metadata,
    sa.Column("id", Key, primary_key=True, autoincrement=True),
    sa.Column("account_id", sa.String(MAX_ACCOUNT_CHARS)),  # NULL: an administrator's command
    sa.Column("at_ms", Millis, nullable=False),
    sa.Column("actor", sa.String(128), nullable=False),
    sa.Column("agent_id", sa.String(128)),
    sa.Column("address", sa.String(64), nullable=False),
    sa.Column("action", sa.String(128), nullable=False),
    sa.Column("object", sa.String(MAX_OBJECT_CHARS), nullable=False),
    sa.Column("outcome", sa.String(32), nullable=False),
    sa.Column("request_id", sa.String(64), nullable=False),
    sa.Index("ix_audit_account_id_id", "account_id", "id"),
)
_SECRET = re.compile(r"\b(sw[dk]_[0-9a-f]+)_[A-Za-z0-9_-]+")
# PostgreSQL stores no NUL; half of a surrogate pair, as of a command line that is no UTF-8, cannot
# be encoded.
_UNSTORABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
AUDITED_READS = (
    "/srmain/recordings/files",
    "/srmain/audit",
    "/download",
    "/media/recordings",
    "/srmain/dnc/",  # changes the list: a link in a mail is a GET
)
UNAUDITED = (
    "POST /srmain/voice/listeners/{id}/responses/{request}",  # one for each webhook
    "PUT /console/session",  # by each page that stays open
)
DENIED = frozenset({401, 403, 429})


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
    """The rate at which an account adds entries.

    Rows are never deleted, so their number has to be limited. Of what exceeds the rate, there is
    one entry a minute for each caller, action and outcome: the last one, with how many there were.
    """

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


def without_secrets(text: str) -> str:
    """Return a text in which keys and do-not-call tokens have their ids only."""
    return _SECRET.sub(r"\1_…", text)


class StoredEntry(Struct, frozen=True):
    id: int
    entry: AuditEntry


class AuditFilters(Struct, frozen=True):
    """What entries must match; empty means any."""

    account_id: str
    actor: str = ""
    agent_id: str = ""
    action: str = ""
    start_ms: int | None = None
    end_ms: int | None = None


class AuditEntries(Struct, frozen=True):
    """A page of entries, newest first; older ones may match if `next_id` is given."""

    entries: list[StoredEntry]
    next_id: int | None


class AuditTrail:
    def __init__(
        self,
        database: Database,
        now_ms: Clock,
        on_failure: Callable[[], None] = lambda: None,
        rate: EntryRate | None = None,
        *,
        max_scanned: int = MAX_SCANNED,
    ) -> None:
        self.now_ms = now_ms
        self._database = database
        self._on_failure = on_failure  # of a write in the background
        self._rate = rate
        self._max_scanned = max_scanned
        self._waiting: deque[AuditEntry] = deque()

    @classmethod
    def build(cls, common: CommonServices) -> Self:
        return cls(
            common.database,
            common.now_ms,
            common.metrics.audit_failures.inc,
            EntryRate(common.settings.audit_entries_per_min, common.now_ms),
        )

    def add(self, entry: AuditEntry) -> None:
        """Add an entry with the next flush; one that exceeds its account's rate is counted."""
        if self._rate is None or self._rate.admits(entry):
            self._append(entry)

    async def flush(self) -> None:
        """Write the entries that wait; they wait again if they cannot be written."""
        # Taken first: an entry that is added meanwhile must not drop one that is being written.
        taken, self._waiting = self._waiting, deque()
        if not taken:
            return
        try:
            await self._write(taken)
        except BaseException:
            self._waiting = taken + self._waiting
            self._drop_oldest()
            raise

    async def run(self) -> None:
        """Flush now and then, and at the end."""
        try:
            while True:
                await asyncio.sleep(FLUSH_INTERVAL_S)
                self.add_folded()
                await self._try_flush()
        finally:
            self.add_folded(at_end=True)
            await self._try_flush()

    def add_folded(self, *, at_end: bool = False) -> None:
        """Add entries for those that were counted: once a minute, and at the end."""
        for entry in self._rate.take_folded(at_end=at_end) if self._rate else ():
            self._append(entry)

    async def page(self, filters: AuditFilters, limit: int, before_id: int | None) -> AuditEntries:
        """Return entries, newest first: those that match among the next `max_scanned`."""
        older = [entries.c.account_id == filters.account_id]
        if before_id is not None:
            older.append(entries.c.id < before_id)
        newest_first = entries.c.id.desc()
        last = sa.select(entries.c.id).where(*older).order_by(newest_first)
        last_id = await self._database.scalar(last.offset(self._max_scanned - 1).limit(1))
        if last_id is not None:
            older.append(entries.c.id >= last_id)
        query = sa.select(entries).where(*older, *_conditions(filters)).order_by(newest_first)
        found = []
        for row in await self._database.mappings(query.limit(limit + 1)):
            values = dict(row)
            found.append(StoredEntry(values.pop("id"), AuditEntry(**values)))
        return AuditEntries(found[:limit], found[limit - 1].id if len(found) > limit else last_id)

    async def _try_flush(self) -> None:
        try:
            await self.flush()
        except ApiError as error:
            self._on_failure()
            log.warning("audit trail not written", reason=error.detail)
        except Exception as error:  # noqa: BLE001 - of any entry; the writer must go on
            self._log_refusal("audit trail not written", error)
            await self._drop_unwritable()

    async def _drop_unwritable(self) -> None:
        """Write the entries one by one, so that one that the database refuses stops no other."""
        for _ in range(len(self._waiting)):
            entry = self._waiting[0]
            try:
                await self._write([entry])
            except ApiError:
                return  # the next flush begins here
            except Exception as error:  # noqa: BLE001 - the writer must go on
                self._log_refusal("audit entry refused", error)
                self._report_drop(entry)
            if self._waiting and self._waiting[0] is entry:  # else the queue was full meanwhile
                self._waiting.popleft()

    @staticmethod
    def _log_refusal(event: str, error: Exception) -> None:
        # A traceback would contain what the entries say of customers.
        log.error(event, reason=type(error).__name__)

    async def _write(self, written: Iterable[AuditEntry]) -> None:
        async with self._database.writing() as connection:
            await connection.execute(sa.insert(entries), list(map(structs.asdict, written)))

    def _append(self, entry: AuditEntry) -> None:
        self._waiting.append(_storable(entry))
        self._drop_oldest()

    def _drop_oldest(self) -> None:
        while len(self._waiting) > MAX_WAITING:
            self._report_drop(self._waiting.popleft())

    def _report_drop(self, entry: AuditEntry) -> None:
        self._on_failure()
        log.error("audit entry dropped", **structs.asdict(entry))


def _storable(entry: AuditEntry) -> AuditEntry:
    """Return an entry without characters that a database refuses, and not longer than its row."""
    texts = {
        name: _UNSTORABLE.sub("\ufffd", value)
        for name, value in structs.asdict(entry).items()
        if isinstance(value, str)
    }
    sizes = {"account_id": MAX_ACCOUNT_CHARS, "object": MAX_OBJECT_CHARS, "address": 64}
    return structs.replace(entry, **{n: each[: sizes.get(n)] for n, each in texts.items()})


def _conditions(filters: AuditFilters) -> list[sa.ColumnElement[bool]]:
    texts = {name: getattr(filters, name) for name in ("actor", "agent_id", "action")}
    found = [entries.c[name] == value for name, value in texts.items() if value]
    if filters.start_ms is not None:
        found.append(entries.c.at_ms >= filters.start_ms)
    if filters.end_ms is not None:
        found.append(entries.c.at_ms < filters.end_ms)
    return found


class RequestAudit:
    """Adds requests to the audit trail; implements what `RequestMiddleware` needs."""

    def __init__(self, trail: AuditTrail) -> None:
        self._trail = trail

    def add(self, scope: Scope, route: str, status: int, request_id: str) -> None:
        """Add a request of a known account that changes, reads or may not see something.

        Its object is the call that its body names, else its path, without a token.
        """
        state: dict[str, Any] = scope.get("state", {})
        account_id = state.get("account_id")
        is_read = scope["method"] in {"GET", "HEAD"}
        action = f"{scope['method']} {route}"
        is_relevant = (
            (not is_read and action not in UNAUDITED)
            or status in DENIED
            or any(each in route for each in AUDITED_READS)
        )
        if account_id is None or not is_relevant:
            return  # a stranger's failures are in the log only: they must not fill the database
        self._trail.add(
            AuditEntry(
                account_id,
                self._trail.now_ms(),
                state.get("actor") or f"key:{state.get('key_id', '')}",
                action[:128],
                state.get("call_id") or without_secrets(scope["path"]),
                str(status),
                state.get("agent_id"),
                (scope.get("client") or ("",))[0],
                request_id,
            )
        )
