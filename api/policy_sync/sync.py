"""Synchronizes dial policies and do-not-call lists to the engines' store.

The store returns the version of each. So comparing finds whatever is missing there (a store that
lost its data, a process that died between database and engine), and it is sent again. A number that
engines refuse is set aside: it must not keep the others of its list from them. Of a policy that
they refuse, they get what allows no more than it does, and checks the list.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import structlog
from msgspec.structs import replace

from api.accounts.store import Account, AccountStore
from api.common.errors import ApiError, InvalidRequest, ServiceUnavailable
from api.dnc.store import Change, DncStore, ListVersions
from api.engine_client import EngineClient
from api.policy_sync.policies import dial_policy_of, without_refused
from wire.dial_policy import (
    POLICY_TTL_MS,
    AccountDialPolicy,
    DialPolicies,
    DialPolicyView,
    DncListChange,
    DncListState,
)

log = structlog.get_logger()
INTERVAL_S = 2.0
APPLY_TIMEOUT_S = 1.0  # how long a request waits for engines to have its change
MAX_CHANGES = 5_000  # in one request
_ITEM = re.compile(r"(add|remove)\[([0-9]+)\]")  # the path of an error


class PolicySync:
    """Compares all accounts at intervals, and a changed account at once."""

    def __init__(
        self,
        engine: EngineClient,
        accounts: AccountStore,
        lists: DncStore,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._sleep = sleep
        self._engine = engine
        self._accounts = accounts
        self._lists = lists
        self._engine_state: dict[str, DialPolicyView] = {}
        self._refusals: dict[str, str] = {}  # reasons, by account
        self._is_compared = False  # the engines' state is known
        self._changed: set[str] = set()
        self._wakeup = asyncio.Event()

    async def apply(self, account_id: str) -> None:
        """Send what has changed of an account's list; engines that do not answer get it later.

        After an account's first entry, wait until all engines know that there is a list.
        """
        is_known = self.list_version(account_id) > 0
        try:
            async with asyncio.timeout(APPLY_TIMEOUT_S):
                await (self.sync_account(account_id) if self._is_compared else self.sync_all())
        except (ApiError, TimeoutError):
            self.notify(account_id)
        else:
            if not is_known and self.list_version(account_id):
                await self._sleep(POLICY_TTL_MS / 1000)

    def list_version(self, account_id: str) -> int:
        """Return the version of an account's list that engines check; 0: none, or not known.

        They check no list of an account whose policy does not say that there is one.
        """
        stored = self._engine_state.get(account_id)
        return stored.list_version if stored is not None and stored.do_not_call else 0

    def count_refused(self) -> int:
        """Return how many accounts have a dial policy that engines refuse."""
        return len(self._refusals)

    async def count_waiting(self) -> int:
        """Return how many changes of all lists engines do not have yet."""
        versions = await self._lists.all_versions()
        later = [each for each in versions if versions[each].version > self.list_version(each)]
        return sum([await self._lists.count_after(each, self.list_version(each)) for each in later])

    def notify(self, account_id: str) -> None:
        """Schedule the synchronization of an account whose list has changed."""
        self._changed.add(account_id)
        self._wakeup.set()

    async def run(self, interval_s: float = INTERVAL_S) -> None:
        """Synchronize all accounts at intervals, and changed ones at once, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due_s = loop.time() + interval_s
            try:
                await self.sync_all()
            except ApiError as error:  # also from an engine of an older version
                log.info("dial policy sync failed", reason=error.detail)
            except Exception:
                log.exception("dial policy sync failed")  # the next one may succeed
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due_s):
                    await self._sync_changed()

    async def sync_all(self) -> None:
        """Send what the engines do not have; raises ServiceUnavailable."""
        stored = await self._engine.request(DialPolicies, "GET", "/terms")
        self._engine_state = {each.account: each for each in stored.accounts}
        self._is_compared = True
        versions, numbers = await self._lists.all_versions(), await self._accounts.all_numbers()
        accounts = await self._accounts.all()
        found = [
            (each, numbers.get(each.id, ()), versions.get(each.id, ListVersions()))
            for each in accounts
        ]
        for account, own, wanted in found:
            if not account.is_active:  # first, and without lists: no list delays a stop
                with _logging_rejection(account.id):
                    await self._sync_policy(account, own, wanted)
        for account, own, wanted in found:
            with _logging_rejection(account.id):
                await self._sync(account, own, wanted)

    async def resend_all(self) -> None:
        """Send all lists from the beginning; meanwhile their accounts cannot call.

        Numbers that engines refused are sent, too.
        """
        await self._lists.forget_refusals()
        for account_id in await self._lists.all_versions():
            await self._engine.request_raw("DELETE", f"/terms/{account_id}/dnc")
        await self.sync_all()

    async def sync_account(self, account_id: str) -> None:
        """Send what has changed of one account; raises ServiceUnavailable."""
        account = await self._accounts.get(account_id)
        numbers = await self._accounts.numbers(account_id)
        with _logging_rejection(account_id):
            await self._sync(account, numbers, await self._lists.versions(account_id))

    async def send_policy(self, account_id: str) -> None:
        """Send the policy of an account as it is now, without its list; raises ApiError.

        Of one that engines refuse, send what is left; the next comparison offers the whole again.
        """
        errors: list[InvalidRequest] = []
        refused: AccountDialPolicy | None = None
        while (policy := await self._rest_of_policy(account_id, errors)) != refused:
            try:
                await self._put_policy(account_id, policy, is_whole=not errors)
                break
            except InvalidRequest as error:
                errors.append(error)
                refused = policy
        self._note_refusal(account_id, errors)
        if policy == refused:
            raise errors[-1]

    async def _rest_of_policy(
        self, account_id: str, errors: Sequence[InvalidRequest]
    ) -> AccountDialPolicy:
        """Return an account's policy without what engines refused.

        The account is read each time, as it may be stopped meanwhile.
        """
        account = await self._accounts.get(account_id)
        numbers = await self._accounts.numbers(account_id)
        versions = await self._lists.versions(account_id)
        policy = dial_policy_of(account, numbers, has_list=versions.version > 0)
        for error in errors:
            policy = without_refused(policy, error)
        return policy

    async def _put_policy(
        self, account_id: str, policy: AccountDialPolicy, *, is_whole: bool
    ) -> None:
        """Send a policy; not again what was left of one."""
        stored = self._engine_state.get(account_id, DialPolicyView(account_id))
        if policy.version == stored.version and not is_whole:
            return
        await self._engine.request(DialPolicyView, "PUT", f"/terms/{account_id}", policy)
        stored = self._engine_state.get(account_id, stored)
        self._engine_state[account_id] = replace(
            stored, version=policy.version, do_not_call=policy.do_not_call
        )

    def _note_refusal(self, account_id: str, errors: Sequence[InvalidRequest]) -> None:
        """Count an account whose policy was refused, and log why, once."""
        if not errors:
            self._refusals.pop(account_id, None)
            return
        reason = errors[0].detail
        if self._refusals.get(account_id) != reason:
            log.warning("dial policy refused", account=account_id, reason=reason)
        self._refusals[account_id] = reason

    async def _sync_changed(self) -> None:
        while True:
            await self._wakeup.wait()
            self._wakeup.clear()
            changed, self._changed = self._changed, set()
            for account_id in changed:
                await self._sync_one(account_id)

    async def _sync_one(self, account_id: str) -> None:
        """Synchronize a changed account; after a failure the next comparison does so."""
        try:
            await self.sync_account(account_id)
        except ApiError as error:
            log.info("dial policy sync failed", account=account_id, reason=error.detail)
        except Exception:
            log.exception("dial policy sync failed", account=account_id)

    async def _sync(self, account: Account, numbers: Sequence[str], wanted: ListVersions) -> None:
        # The list first: a policy with a list forbids all calls until the list is complete.
        # A stopped account may not call at all, and must not wait for its list.
        if not account.is_active:
            await self._sync_policy(account, numbers, wanted)
        stored = self._engine_state.get(account.id, DialPolicyView(account.id))
        list_version = await self._sync_list(account.id, stored.list_version, wanted)
        self._engine_state[account.id] = replace(stored, list_version=list_version)
        await self._sync_policy(account, numbers, wanted)

    async def _sync_policy(
        self, account: Account, numbers: Sequence[str], wanted: ListVersions
    ) -> None:
        """Send a policy that the engines do not have; read again, as it may have been stopped."""
        policy = dial_policy_of(account, numbers, has_list=wanted.version > 0)
        stored = self._engine_state.get(account.id, DialPolicyView(account.id))
        if policy.version != stored.version:
            await self.send_policy(account.id)
            if account.id not in self._refusals:
                log.info("dial policy sent", account=account.id)
        else:
            self._note_refusal(account.id, ())

    async def _sync_list(self, account_id: str, stored: int, wanted: ListVersions) -> int:
        """Send the changes after the stored version of a list; return its new version."""
        while stored != wanted.version:
            if stored > wanted.version:
                wanted = await self._lists.versions(account_id)  # another process was faster
            # Any other version is from another database, or from before a restored backup.
            after = stored if wanted.since < stored <= wanted.version else 0
            if after == wanted.version:
                break
            change = await self._change(account_id, after, wanted.version)
            stored = await self._send_change(account_id, change)
        return stored

    async def _send_change(self, account_id: str, change: DncListChange) -> int:
        """Send a change without the numbers that engines refuse; return the list's version."""
        path = f"/terms/{account_id}/dnc"
        while True:
            try:
                return (await self._engine.request(DncListState, "PATCH", path, change)).version
            except InvalidRequest as error:
                refused = _refused_numbers(change, error)
                if not refused:
                    raise
                await self._lists.set_aside(account_id, refused)
                log.warning("do-not-call entries refused", account=account_id, count=len(refused))
                change = _without(change, refused)

    async def _change(self, account_id: str, after: int, until: int) -> DncListChange:
        found = await self._lists.changes(account_id, after, until, MAX_CHANGES)
        is_last = len(found) < MAX_CHANGES or found[-1].version == until
        return DncListChange(
            after=after,
            version=until if is_last else found[-1].version,
            add=_numbers(found, listed=True),
            remove=_numbers(found, listed=False) if after else (),
            is_whole=is_last,
        )


@contextmanager
def _logging_rejection(account_id: str) -> Iterator[None]:
    """Let an engine's rejection of one account's data not stop the others."""
    try:
        yield
    except ServiceUnavailable:
        raise
    except ApiError as error:
        log.warning("dial policy rejected", account=account_id, reason=error.detail)


def _refused_numbers(change: DncListChange, error: InvalidRequest) -> dict[str, str]:
    """Return the numbers of a change that an engine refuses, each with its reason."""
    fields = {"add": change.add, "remove": change.remove}
    found = dict[str, str]()
    for each in error.errors:
        if place := _ITEM.fullmatch(each.path):
            found[fields[place[1]][int(place[2])]] = each.message
    return found


def _without(change: DncListChange, refused: Mapping[str, str]) -> DncListChange:
    add = tuple(each for each in change.add if each not in refused)
    remove = tuple(each for each in change.remove if each not in refused)
    return replace(change, add=add, remove=remove)


def _numbers(changes: Sequence[Change], *, listed: bool) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.number for each in changes if each.is_listed == listed))
