"""Dead letters over RPC: the events for an account's targets that were given up."""

import re
from collections.abc import AsyncIterator, Collection

import msgspec
from aiohttp import web

from engine.callbacks.targets import CallbackTargets
from engine.rpc.handlers.number_routes import name_in
from engine.rpc.json_body import json_response, read_body
from engine.rpc.problems import Conflict
from engine.store.outbox import DeadLetter, Outbox
from wire.callback_targets import AUTO_SET
from wire.callbacks import DeadLetters, DeadLetterView, Resend, Resent
from wire.errors import BadInput
from wire.patterns import DEAD_LETTER_ID, PATTERNS

MAX_LISTED = 100
MAX_RESENT = 1_000  # of a slot, at once


class DeadLetterHandlers:
    """One method a request."""

    def __init__(self, outbox: Outbox, accounts: CallbackTargets, slots: int) -> None:
        self._outbox = outbox
        self._accounts = accounts
        self._slots = slots

    def routes(self) -> list[web.RouteDef]:
        """Say what is answered where."""
        one = "/callbacks/{account}"
        return [web.get(f"{one}/dead", self.dead), web.post(f"{one}/resend", self.resend)]

    async def dead(self, request: web.Request) -> web.Response:
        """List an account's dead letters."""
        account = name_in(request, "account")
        first, after = _place(request.query.get("after", ""), self._slots)
        letters: list[DeadLetterView] = []
        for slot in range(first, self._slots):
            limit = MAX_LISTED + 1 - len(letters)
            found = await self._outbox.dead_letters(slot, account, after, limit) if limit else []
            letters += [_shown(slot, each) for each in found]
            after = ""
        return json_response(DeadLetters(tuple(letters[:MAX_LISTED]), len(letters) > MAX_LISTED))

    async def resend(self, request: web.Request) -> web.Response:
        """Send dead letters again: those that are named, or all."""
        account = name_in(request, "account")
        asked = await read_body(request, Resend)
        if asked.all == bool(asked.ids):
            raise BadInput("ids", "either ids, or all")
        await self._check_way(account, asked.ids)
        resent = 0
        for slot in range(self._slots):
            entries = [_place(each, self._slots)[1] for each in asked.ids if _is_of(each, slot)]
            if entries or asked.all:
                resent += await self._outbox.resend(slot, account, entries, MAX_RESENT)
        return json_response(Resent(resent))

    async def _check_way(self, account: str, ids: Collection[str]) -> None:
        """Refuse letters to a target that takes none: they would be given up again at once."""
        if await self._accounts.auto_set(account) is not None:
            return
        async for letter_id, letter in self._letters(account):
            if _target(letter) == AUTO_SET and (not ids or letter_id in ids):
                found = await self._accounts.settings(account)
                if found and found.is_stopped:
                    told = f"the target of account {account} is stopped, since it answered 410"
                    raise Conflict(f"{told}: it takes nothing until it is put again", "stopped")
                raise Conflict(f"account {account} has no target to deliver to", "no_target")

    async def _letters(self, account: str) -> AsyncIterator[tuple[str, DeadLetter]]:
        for slot in range(self._slots):
            after = ""
            while found := await self._outbox.dead_letters(slot, account, after, MAX_RESENT):
                for each in found:
                    yield f"{slot}.{each.entry}", each
                after = found[-1].entry


def _shown(slot: int, letter: DeadLetter) -> DeadLetterView:
    return DeadLetterView(
        id=f"{slot}.{letter.entry}",
        call_id=letter.call_id,
        event_id=f"{letter.call_id}.e{letter.seq}",
        target=_target(letter),
        reason=letter.reason,
        tries=letter.tries,
        dead_ms=int(letter.entry.partition("-")[0]),
        event=msgspec.json.decode(letter.event),
    )


def _target(letter: DeadLetter) -> str:
    return letter.delivery_key.partition(" ")[2]


def _place(letter: str, slots: int) -> tuple[int, str]:
    """Read where a letter lies: its slot, and its entry there."""
    if not letter:
        return 0, ""
    if re.search(DEAD_LETTER_ID, letter) is None:
        raise BadInput("after", f"expected {PATTERNS[DEAD_LETTER_ID]}")
    slot, _, entry = letter.partition(".")
    return min(int(slot), slots), entry


def _is_of(letter: str, slot: int) -> bool:
    return letter.partition(".")[0] == str(slot)
