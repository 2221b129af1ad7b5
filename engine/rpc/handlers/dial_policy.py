"""Dial policies over RPC: put as a whole; do-not-call lists are changed incrementally."""

import msgspec
from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.rpc.lookup import live_call_of, name_in
from engine.rpc.problems import LimitReached, NotFound
from engine.runtime.admission.node_selection import NoCapacity
from engine.runtime.call_service import CallService
from engine.runtime.policy.destinations import denied_type, region_of_policy
from engine.runtime.policy.dial_policy import DialPolicy
from engine.store.store import DialPolicyStore
from wire.decoding.errors import BadInput
from wire.decoding.messages import decode_message
from wire.dial_policy import (
    AccountDialPolicy,
    DialPolicies,
    DialPolicyView,
    DncListChange,
    DncListState,
)
from wire.phone_numbers.international_form import (
    NEEDS_COUNTRY,
    dialled,
    international,
    lacks_plus,
)

_TRUNK_LIMITS = {
    "trunk_full": "the trunk exceeds its live calls (SWITCHROOM_TRUNK_MAX_CALLS)",
    "trunk_rate": "the trunk exceeds its new calls per second (SWITCHROOM_TRUNK_MAX_CALLS_PER_S)",
}


class DialPolicyHandlers(Struct, frozen=True):
    policies: DialPolicyStore
    dial_policy: DialPolicy
    trunks: tuple[str, ...]

    async def list(self, _request: web.Request) -> DialPolicies:
        """List the dial policy version of each account."""
        found = await self.policies.all()
        versions = await self.policies.list_versions(list(found))
        views = (
            _view(account, _read(body), version)
            for (account, body), version in zip(found.items(), versions, strict=True)
        )
        return DialPolicies(tuple(views))

    async def put(self, request: web.Request, terms: AccountDialPolicy) -> DialPolicyView:
        """Store a dial policy; other engines apply it within a second."""
        account = name_in(request, "account")
        for place, trunk in enumerate(terms.trunks):
            if trunk not in self.trunks:
                raise BadInput(f"trunks[{place}]", f"one of {', '.join(self.trunks)}")
        body = msgspec.json.encode(terms)
        await self.policies.put(account, body, is_stopped=terms.is_stopped)
        self.dial_policy.update(account, terms)
        (version,) = await self.policies.list_versions([account])
        return _view(account, terms, version)

    async def get(self, request: web.Request) -> AccountDialPolicy:
        account = name_in(request, "account")
        body = await self.policies.get(account)
        if body is None:
            raise NotFound(f"no terms of account {account}")
        return _read(body)

    async def change_list(self, request: web.Request, change: DncListChange) -> DncListState:
        """Apply a change to a do-not-call list at the expected version; return its version."""
        account = name_in(request, "account")
        if change.version <= change.after:
            raise BadInput("version", "more than after")
        add, remove = _read_numbers(change.add), _read_numbers(change.remove)
        change = replace(change, add=add, remove=remove)
        return DncListState(await self.policies.change_list(account, change))

    async def delete_list(self, request: web.Request) -> None:
        await self.policies.delete_list(name_in(request, "account"))


async def check_dial_policy(dial_policy: DialPolicy, account: str, party: str, path: str) -> None:
    """Check that the account may dial a party; raises BadInput, or NoCapacity if unknown."""
    match await dial_policy.check(account, party):
        case "" | "sip_host" | "legs_per_call":
            pass  # `check_party` names the field of a wrong host; both are checked at the leg
        case "live_legs" | "leg_rate" | "daily_minutes" as limit:
            detail = _exceeded_limit(limit, dial_policy.last(account))
            raise LimitReached(limit, f"account {account} exceeds {detail}")
        case "trunk_full" | "trunk_rate" as code:
            raise NoCapacity(code, _TRUNK_LIMITS[code])
        case "account_stopped":
            raise NoCapacity("account_stopped", f"account {account} is stopped")
        case "terms_unknown":
            raise NoCapacity("terms_unknown", f"the dial policy of {account} is not known")
        case "do_not_call":
            raise BadInput(path, f"{party} is on the do-not-call list", "do_not_call")
        case "number_type":
            policy = dial_policy.last(account)
            kind = denied_type(policy, party)
            detail = f"{party} is a number of the type {kind}, which this account may not call"
            hint = _plus_hint(dialled(party, region_of_policy(policy)))
            raise BadInput(path, f"{detail} (--allow-type {kind}){hint}", "number_type")
        case "number_without_country" as code:
            raise BadInput(path, f"the country of {party} is not certain: {NEEDS_COUNTRY}", code)
        case "not_allowed":
            detail = f"{party} may not be called by this account{_plus_hint(party)}"
            raise BadInput(path, detail, "not_allowed")


async def check_new_call(dial_policy: DialPolicy, account: str) -> None:
    """Check that the account may start an outbound call; raises LimitReached."""
    match await dial_policy.check_call(account):
        case "":
            pass
        case "log_quota" as code:
            detail = "have written as much as they may (SWITCHROOM_LOG_MB_OF_CALL)"
            raise LimitReached(code, f"the calls of account {account} {detail}")
        case "live_calls" | "call_rate" as code:
            limit = _count(dial_policy.last(account).max_calls, "live call")
            raise LimitReached(code, f"account {account} exceeds {limit} (--max-calls)")


async def authorize_dial(  # noqa: PLR0913, PLR0917 - the call and the party
    dial_policy: DialPolicy,
    service: CallService,
    request: web.Request,
    account: str | None,
    party: str,
    path: str,
) -> Call:
    """Check that a live call's account may dial a party; return the call as it is after that."""
    call = await live_call_of(service, request, account)
    await check_dial_policy(dial_policy, call.account, party, path)
    return await live_call_of(service, request, account)


def _read_numbers(numbers: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(international(each, "") for each in numbers)


def _plus_hint(party: str) -> str:
    """Return what may be wrong with a number that begins with a digit."""
    return f"; {NEEDS_COUNTRY}" if lacks_plus(party) else ""


def _exceeded_limit(code: str, policy: AccountDialPolicy) -> str:
    match code:
        case "live_legs":
            return f"{_count(policy.max_live_legs, 'live leg')} (--max-live-legs)"
        case "leg_rate":
            return f"{_count(policy.max_legs_per_s, 'new leg')} per second (--max-legs-per-s)"
        case _:
            minutes = _count(policy.max_minutes_per_day, "minute")
            return f"{minutes} per day (--max-minutes-per-day)"


def _count(limit: float | None, unit: str) -> str:
    shown = str(limit or 0).removesuffix(".0")
    return f"{shown} {unit}{'' if limit == 1 else 's'}"


def _view(account: str, terms: AccountDialPolicy, list_version: int) -> DialPolicyView:
    return DialPolicyView(account, terms.version, list_version, terms.do_not_call)


def _read(body: bytes) -> AccountDialPolicy:
    return decode_message(body, AccountDialPolicy)
