"""RPC operations on dead letters: callback events whose delivery was given up."""

import re
from collections.abc import AsyncIterator, Collection

import msgspec
from aiohttp import web
from msgspec import Struct

from engine.callbacks.account_settings import AccountSettings
from engine.rpc.lookup import name_in
from engine.rpc.problems import Conflict
from engine.runtime.cluster.shard_map import ShardMap
from engine.store.callback_queue import CallbackQueue, DeadLetter
from wire.callbacks.account import DeadLetters, DeadLetterView, Resend, ResendResult
from wire.callbacks.targets import AUTO_SET
from wire.decoding.errors import BadInput
from wire.decoding.patterns import DEAD_LETTER_ID, PATTERNS
from wire.shard import ShardId, parse_shard

MAX_LISTED = 100
MAX_RESENT = 1_000  # per shard and request


class DeadLetterHandlers(Struct, frozen=True):
    callback_queue: CallbackQueue
    targets: AccountSettings
    shards: ShardMap

    async def list(self, request: web.Request) -> DeadLetters:
        account = name_in(request, "account")
        given = request.query.get("after", "")
        first, after = self._parse_id(given) if given else (None, "")
        dead_letters: list[DeadLetterView] = []
        for shard in self.shards.all:
            limit = MAX_LISTED + 1 - len(dead_letters)
            if (first is None or shard >= first) and limit:
                since = after if shard == first else ""
                found = await self.callback_queue.dead_letters(shard, account, since, limit)
                dead_letters += [_view(shard, each) for each in found]
        return DeadLetters(tuple(dead_letters[:MAX_LISTED]), len(dead_letters) > MAX_LISTED)

    async def resend(self, request: web.Request, body: Resend) -> ResendResult:
        """Requeue the named dead letters, or all of them."""
        account = name_in(request, "account")
        if body.all == bool(body.ids):
            raise BadInput("ids", "either ids or all")
        await self._check_target(account, body.ids)
        resent = 0
        ids = [self._parse_id(each) for each in body.ids]
        for shard in self.shards.all:
            entries = [entry for at, entry in ids if at == shard]
            if entries or body.all:
                resent += await self.callback_queue.resend(shard, account, entries, MAX_RESENT)
        return ResendResult(resent)

    async def _check_target(self, account: str, ids: Collection[str]) -> None:
        """Reject a resend to a missing or stopped target: it would fail again at once."""
        if await self.targets.resolve(account, AUTO_SET) is not None:
            return
        async for event_id, dead_letter in self._dead_letters(account):
            if _target(dead_letter) == AUTO_SET and (not ids or event_id in ids):
                found = await self.targets.settings(account)
                if found and found.is_stopped:
                    detail = f"the target of account {account} is stopped: it answered 410"
                    raise Conflict(f"{detail}; set it again to restart delivery", "stopped")
                raise Conflict(f"account {account} has no target to deliver to", "no_target")

    async def _dead_letters(self, account: str) -> AsyncIterator[tuple[str, DeadLetter]]:
        for shard in self.shards.all:
            after = ""
            while found := await self.callback_queue.dead_letters(
                shard, account, after, MAX_RESENT
            ):
                for each in found:
                    yield f"{shard}.{each.entry}", each
                after = found[-1].entry

    def _parse_id(self, dead_letter: str) -> tuple[ShardId, str]:
        """Return the shard of a dead letter and its entry id in that shard."""
        if re.search(DEAD_LETTER_ID, dead_letter) is None:
            raise BadInput("after", f"expected {PATTERNS[DEAD_LETTER_ID]}")
        shard, _, entry = dead_letter.partition(".")
        return parse_shard(shard), entry


def _view(shard: ShardId, dead_letter: DeadLetter) -> DeadLetterView:
    return DeadLetterView(
        id=f"{shard}.{dead_letter.entry}",
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
