"""RPC operations on the webhook log: attempts to reach customers' servers, and their repetition."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated

from aiohttp import web
from msgspec import Meta, Struct, field

from base.fair_slots import FairSlots
from base.limit import Limit
from engine.rpc.account_queue import AccountQueue
from engine.rpc.json_body import read_query
from engine.rpc.lookup import name_in
from engine.rpc.problems import Conflict, NotFound, Unavailable
from engine.runtime.io.webhook_resend import WebhookResend
from engine.store.stream import entry_order
from engine.store.webhook_log import NEWEST, StoredAttempt, WebhookLogStore
from engine.webhooks.errors import WebhookFailed
from engine.webhooks.log.logged_attempt import LoggedAttempt, decompress
from engine.webhooks.log.refill import NotRepeatable
from wire.decoding.errors import BadInput
from wire.decoding.patterns import ENTRY_ID, PATTERNS
from wire.webhook_log import AttemptKind, AttemptOutcome, Attempts, AttemptSummary, AttemptView

MAX_LISTED = 200
PAGE_SIZE = 100
PIECE = 20  # attempts, of about 50 µs each; then live calls get their turn on the event loop
SEARCHES_AT_ONCE = 2
MAX_SEARCHES = 40  # in progress and waiting
MAX_ACCOUNT_SEARCHES: Annotated[
    int,
    Limit("account", "429 `too_many`", "Searches of the webhook log in one engine."),
] = 4
MAX_SCANNED = 2_000  # for one request: a rare outcome is found by several
_ID_END = 2**64  # of both numbers of an id
_NO_ORDER = (_ID_END, 0)  # after every id
NextPage = Callable[[str], Awaitable[list[StoredAttempt]]]  # of what follows an id


class _Query(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Filters; `after` lists the earliest first, otherwise the latest are first."""

    call_id: str | None = None
    kind: AttemptKind | None = None
    outcome: AttemptOutcome | None = None
    after: str | None = None
    before: str | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED)] = 50

    def matches(self, attempt: LoggedAttempt) -> bool:
        return (
            self.kind in {None, attempt.kind}
            and self.outcome in {None, attempt.outcome}
            and self.call_id in {None, attempt.call_id}
        )


class WebhookSearches:
    """Whose turn it is to search the webhook log: one search of an account at a time."""

    def __init__(self, most: int = MAX_SEARCHES, of_account: int = MAX_ACCOUNT_SEARCHES) -> None:
        self._queue = AccountQueue(
            "too_many", "searches of the webhook log", most=most, most_of_account=of_account
        )
        self._turns = FairSlots(SEARCHES_AT_ONCE, of_account=1)

    @asynccontextmanager
    async def turn(self, account: str) -> AsyncIterator[None]:
        """Wait until no other search of the account is in progress; raises LimitReached."""
        with self._queue.place(account):
            async with self._turns.slot(account):
                yield


class WebhookLogHandlers(Struct, frozen=True):
    log: WebhookLogStore
    retries: WebhookResend
    searches: WebhookSearches = field(default_factory=WebhookSearches)

    async def list(self, request: web.Request) -> Attempts:
        """List attempts of an account, the latest first; with `after`, the earliest first."""
        account, query = name_in(request, "account"), read_query(request, _Query)
        if query.after and query.before:
            raise BadInput("before", "not together with after")
        for path, text in (("after", query.after), ("before", query.before)):
            if text is not None and not _is_id(text):
                raise BadInput(path, f"expected {PATTERNS[ENTRY_ID]}")
        async with self.searches.turn(account):
            if query.call_id is not None:
                return await self._of_call(account, query, query.call_id)
            return await self._of_account(account, query)

    async def get(self, request: web.Request) -> AttemptView:
        entry_id, attempt = await self._attempt(request)
        return attempt.view(entry_id)

    async def retry(self, request: web.Request) -> AttemptView:
        """Send the request of an attempt again; calls do not notice."""
        entry_id, attempt = await self._attempt(request)
        try:
            repeated = await self.retries.repeat(name_in(request, "account"), entry_id, attempt)
        except NotRepeatable as error:
            raise Conflict(str(error), "not_repeatable") from None
        except WebhookFailed as error:
            raise Unavailable(error.detail) from None
        if repeated is None:
            raise Unavailable("the request was repeated, but the store did not take its attempt")
        return repeated

    async def _attempt(self, request: web.Request) -> tuple[str, LoggedAttempt]:
        account, entry_id = name_in(request, "account"), request.match_info["attempt"]
        stored = await self.log.read(account, entry_id) if _is_id(entry_id) else None
        attempt = decompress(stored.body) if stored is not None else None
        if attempt is None:
            raise NotFound(f"no attempt {entry_id}")
        return entry_id, attempt

    async def _of_call(self, account: str, query: _Query, call_id: str) -> Attempts:
        """List attempts of a call from its index."""
        found = await self.log.of_call(account, call_id)
        if query.after is not None:
            after = entry_order(query.after)
            chosen = [each for each in found if entry_order(each.id) > after]
        else:
            before = entry_order(query.before) if query.before is not None else _NO_ORDER
            chosen = [each for each in reversed(found) if entry_order(each.id) < before]

        async def page(_position: str) -> list[StoredAttempt]:
            page, chosen[:] = chosen[:PAGE_SIZE], chosen[PAGE_SIZE:]
            return page

        return await _scan(query, page)

    async def _of_account(self, account: str, query: _Query) -> Attempts:
        async def page(position: str) -> list[StoredAttempt]:
            if query.after is not None:
                return await self.log.read_after(account, position, PAGE_SIZE)
            return await self.log.read_before(account, position, PAGE_SIZE)

        return await _scan(query, page)


async def _scan(query: _Query, page: NextPage) -> Attempts:
    """Return the attempts that match, and where the next request continues.

    It ends early after MAX_SCANNED attempts. With `after` it always says where: more will follow.
    """
    found: list[AttemptSummary] = []
    position, scanned = query.after or query.before or NEWEST, 0
    while scanned < MAX_SCANNED and (stored := await page(position)):
        for each in stored:
            position, scanned = each.id, scanned + 1
            attempt = decompress(each.body)
            if attempt is not None and query.matches(attempt):
                found.append(attempt.summary(each.id))
                if len(found) == query.limit:
                    return Attempts(tuple(found), position)
            if scanned % PIECE == 0:
                await asyncio.sleep(0)
        if len(stored) < PAGE_SIZE:
            break
    is_complete = scanned < MAX_SCANNED and query.after is None
    return Attempts(tuple(found), None if is_complete else position)


def _is_id(text: str) -> bool:
    """Return whether the store may have this id."""
    return re.search(ENTRY_ID, text) is not None and max(entry_order(text)) < _ID_END
