"""Gives one PBX node the phones of agents that have a password or logins, without a reload.

The node keeps an endpoint in memory: after a restart it is missing, and made again
(docs/asterisk.md).
"""

import asyncio
import heapq
from collections.abc import Callable, Mapping

import msgspec
import structlog

from engine.ari.generated.models import AsteriskInfo, Endpoint
from engine.ari.generated.operations import asterisk, endpoints
from engine.runtime.agents.phone_credentials import CredentialStore, PhoneCredentials
from engine.runtime.agents.phone_objects import NoTemplate, PhoneObjects
from engine.runtime.base.interfaces import Pbx
from engine.runtime.pbx.snapshot import PbxUnavailable, query
from engine.store.errors import StoreDown
from wire.agents import TECHNOLOGY
from wire.decoding.messages import decode_message

log = structlog.get_logger()
POLL_INTERVAL_S = 0.25  # of changes: a person waits for the login of a phone in a browser
POLLS_PER_CHECK = 8  # after so many the node is asked whether it has restarted
COMPARED_EVERY = 30  # checks
CONCURRENCY = 4  # phones that are made at the same time: more would delay calls
BATCH_SIZE = 200  # phones between two reads of changes
_listed = msgspec.json.Decoder(list[Endpoint])
_info = msgspec.json.Decoder(AsteriskInfo)


class PhoneProvisioning:
    """Keeps the endpoints of one node as the stored credentials say.

    It applies what has changed or expired, and compares all phones with the node's endpoints when
    the node has started, and at intervals.
    """

    def __init__(
        self,
        node: str,
        pbx: Pbx,
        credentials: CredentialStore,
        now_ms: Callable[[], int],
        interval_s: float = POLL_INTERVAL_S,
    ) -> None:
        self._pbx = pbx
        self._known = KnownPhones(credentials)
        self._objects = PhoneObjects(node, pbx)
        self._now_ms = now_ms
        self._interval_s = interval_s
        self._done: dict[str, PhoneCredentials] = {}  # what the node was given, by endpoint
        self._pending: dict[str, None] = {}  # names to compare with the node, in order
        self._expiries: list[tuple[int, str]] = []  # of logins that the node has: a heap
        self._started = ""  # when the node has, according to itself
        self._rounds = 0  # until all phones are compared again
        self._log = log.bind(node=node)

    async def run(self) -> None:
        """Provide the node with phones until cancelled."""
        self._rounds = polls = 0  # another engine may have provided it meanwhile
        while True:
            is_complete = True
            try:
                is_complete = await self.provide(only_changes=polls % POLLS_PER_CHECK > 0)
            except (PbxUnavailable, StoreDown, msgspec.DecodeError) as error:
                self._log.debug("phones not provided", error=str(error))
            polls += 1
            await asyncio.sleep(self._interval_s if is_complete else 0)

    async def provide(self, *, only_changes: bool = False) -> bool:
        """Make, change and delete what differs; raises PbxUnavailable and StoreDown.

        With `only_changes` it does not ask whether the node has restarted. Returns False if there
        is more to do at once: changes are read again in between.
        """
        changed = sorted({*await self._known.update(), *self._expired()})
        self._pending = {**dict.fromkeys(changed), **self._pending}
        if not self._known.phones and not self._pending:
            return True
        if not only_changes:
            await self._compare_all_if_due()
        if not self._pending:
            return True
        found = await query(self._pbx, endpoints.list_by_tech(TECHNOLOGY), _listed)
        present = {each.resource for each in found}
        self._objects.forget_templates()
        batch = list(self._pending)[:BATCH_SIZE]
        gate = asyncio.Semaphore(CONCURRENCY)
        results = await asyncio.gather(
            *(self._provide_in_turn(gate, name, name in present) for name in batch)
        )
        failed = [name for name, is_done in zip(batch, results, strict=True) if not is_done]
        for name in batch:
            del self._pending[name]
        is_complete = not self._pending or bool(failed)
        self._pending |= dict.fromkeys(failed)
        return is_complete

    def _is_withdrawn(self, name: str, wanted: PhoneCredentials, *, is_same: bool) -> bool:
        """Return whether logins that the node had were ended before they expired.

        What an engine before this one has done shows in the node's logins, which are the same then.
        """
        done = self._done.get(name)
        if done is None:
            return wanted.withdrawals > 0 and not is_same
        is_replaced = done.kind == "browser" and done.md5 != wanted.md5
        return is_replaced or wanted.withdrawals > done.withdrawals

    def _expired(self) -> set[str]:
        """Return the phones with a login that has expired since the last time."""
        found, now_ms = set[str](), self._now_ms()
        while self._expiries and self._expiries[0][0] <= now_ms:
            found.add(heapq.heappop(self._expiries)[1])
        return found

    async def _compare_all_if_due(self) -> None:
        """Compare all phones with the node, also if it has lost them by a restart."""
        info = await query(self._pbx, asterisk.get_info(only=["status"]), _info)
        started = info.status.startup_time if info.status else ""
        self._rounds -= 1
        if self._rounds < 0 or started != self._started:
            self._pending |= dict.fromkeys(self._known.phones)
            self._started, self._rounds = started, COMPARED_EVERY

    async def _provide_in_turn(self, gate: asyncio.Semaphore, name: str, is_present: bool) -> bool:
        async with gate:
            return await self._provide(name, is_present)

    async def _provide(self, name: str, is_present: bool) -> bool:
        """Make, change or delete a phone; returns whether the node accepted it."""
        known = self._known.phones.get(name)
        wanted = None if known is None else known.valid_at(self._now_ms())
        done = self._done.get(name)
        if is_present is (wanted is not None) and done == wanted:
            return True
        former = () if done is None else tuple(each.username for each in done.logins)
        try:
            if known is None or wanted is None:
                await self._objects.delete(name, former)
                self._done.pop(name, None)
                return True
            if not is_present:
                expired = (each for each in known.logins if each not in wanted.logins)
                await self._objects.delete_logins(each.username for each in expired)
            is_same = is_present and await self._objects.has(name, wanted)
            ends = is_present and self._is_withdrawn(name, wanted, is_same=is_same)
            if not is_same or ends:
                await self._objects.make(
                    name,
                    wanted,
                    is_new=not is_present,
                    ends_registrations=ends,
                    former=former,
                )
        except NoTemplate as error:  # the node serves no phones of this kind
            self._log.warning("phone not provided", phone=name, error=str(error))
            return True
        except PbxUnavailable as error:  # the others may succeed
            self._log.warning("phone not provided", phone=name, error=str(error))
            return False
        self._done[name] = wanted
        for login in wanted.logins:
            heapq.heappush(self._expiries, (login.expires_ms, name))
        return True


class KnownPhones:
    """Credentials by endpoint name, as of the last `update`.

    Only a deletion removes a phone: one that a store has lost stays known, and keeps its password.
    """

    def __init__(self, credentials: CredentialStore) -> None:
        self.phones: dict[str, PhoneCredentials] = {}
        self._credentials = credentials
        self._bodies: dict[str, bytes] = {}
        self._position = ""

    async def update(self) -> set[str]:
        """Read the changes, and return whose credentials have changed; raises StoreDown."""
        found, self._position = await self._credentials.store.phones.changes(self._position)
        changed = {name for name, body in found.items() if self._bodies.get(name) != body}
        changed |= {name for name, body in found.items() if body is None}
        self._take(changed, found)
        return changed

    def _take(self, changed: set[str], found: Mapping[str, bytes | None]) -> None:
        for name in sorted(changed):
            body = found[name]
            self._bodies.pop(name, None)
            self.phones.pop(name, None)
            if body is None:
                continue
            try:
                credentials = decode_message(body, PhoneCredentials)
            except msgspec.DecodeError as error:  # of another version
                log.warning("invalid credentials", phone=name, error=str(error))
                continue
            self._bodies[name] = body
            self.phones[name] = credentials
