"""RPC operations on dead letters: callback events whose delivery was given up."""

import re
from collections.abc import AsyncIterator, Collection

import msgspec
from aiohttp import web
from msgspec import Struct

from engine.callbacks.account_settings import AccountSettings
from engine.rpc.lookup import name_in
from engine.rpc.problems import Conflict
from engine.store.outbox import DeadLetter, Outbox
from wire.callbacks.account import DeadLetters, DeadLetterView, Resend, Resent
from wire.callbacks.targets import AUTO_SET
from wire.decoding.errors import BadInput
from wire.decoding.patterns import DEAD_LETTER_ID, PATTERNS

MAX_LISTED = 100
MAX_RESENT = 1_000  # per slot and request


class DeadLetterHandlers(Struct, frozen=True):
    outbox: Outbox
    targets: AccountSettings
    slots: int

    async def list(self, request: web.Request) -> DeadLetters:
        account = name_in(request, "account")
        first, after = _parse_id(request.query.get("after", ""), self.slots)
        dead_letters: list[DeadLetterView] = []
        for slot in range(first, self.slots):
            limit = MAX_LISTED + 1 - len(dead_letters)
            found = await self.outbox.dead_letters(slot, account, after, limit) if limit else []
            dead_letters += [_view(slot, each) for each in found]
            after = ""
        return DeadLetters(tuple(dead_letters[:MAX_LISTED]), len(dead_letters) > MAX_LISTED)

    async def resend(self, request: web.Request, body: Resend) -> Resent:
        """Requeue the named dead letters, or all of them."""
        account = name_in(request, "account")
        if body.all == bool(body.ids):
            raise BadInput("ids", "either ids or all")
        await self._check_target(account, body.ids)
        resent = 0
        for slot in range(self.slots):
            entries = [
                _parse_id(each, self.slots)[1] for each in body.ids if _is_in_slot(each, slot)
            ]
            if entries or body.all:
                resent += await self.outbox.resend(slot, account, entries, MAX_RESENT)
        return Resent(resent)

    async def _check_target(self, account: str, ids: Collection[str]) -> None:
        """Reject a resend to a missing or stopped target: it would fail again at once."""
        if await self.targets.auto_set(account) is not None:
            return
        async for event_id, dead_letter in self._dead_letters(account):
            if _target(dead_letter) == AUTO_SET and (not ids or event_id in ids):
                found = await self.targets.settings(account)
                if found and found.is_stopped:
                    detail = f"the target of account {account} is stopped: it answered 410"
                    raise Conflict(f"{detail}; set it again to restart delivery", "stopped")
                raise Conflict(f"account {account} has no target to deliver to", "no_target")

    async def _dead_letters(self, account: str) -> AsyncIterator[tuple[str, DeadLetter]]:
        for slot in range(self.slots):
            after = ""
            while found := await self.outbox.dead_letters(slot, account, after, MAX_RESENT):
                for each in found:
                    yield f"{slot}.{each.entry}", each
                after = found[-1].entry


def _view(slot: int, dead_letter: DeadLetter) -> DeadLetterView:
    return DeadLetterView(
        id=f"{slot}.{dead_letter.entry}",
        call_id=dead_letter.call_id,
        event_id=f"{dead_letter.call_id}.e{dead_letter.seq}",
        target=_target(dead_letter),
        reason=dead_letter.reason,
        tries=dead_letter.tries,
        dead_ms=int(dead_letter.entry.partition("-")[0]),
        event=msgspec.json.decode(dead_letter.event),
    )


def _target(dead_letter: DeadLetter) -> str:
    return dead_letter.delivery_key.partition(" ")[2]


def _parse_id(dead_letter: str, slots: int) -> tuple[int, str]:
    """Return the slot of a dead letter and its entry id in that slot."""
    if not dead_letter:
        return 0, ""
    if re.search(DEAD_LETTER_ID, dead_letter) is None:
        raise BadInput("after", f"expected {PATTERNS[DEAD_LETTER_ID]}")
    slot, _, entry = dead_letter.partition(".")
    return min(int(slot), slots), entry


def _is_in_slot(dead_letter: str, slot: int) -> bool:
    return dead_letter.partition(".")[0] == str(slot)
