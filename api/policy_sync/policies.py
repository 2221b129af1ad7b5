"""An account's dial policy, and what is left of one that engines refuse."""

import hashlib
import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from api.accounts.store import Account
from api.common.errors import InvalidRequest
from wire.dial_policy import DEFAULT_LEGS_PER_CALL, AccountDialPolicy
from wire.phone_numbers.e164 import calling_code, region_of

_TRUNK = re.compile(r"trunks\[([0-9]+)\]")  # the path of an error
_CLOSED = AccountDialPolicy(destinations=(), numbers=())


def dial_policy_of(
    account: Account, numbers: Sequence[str], *, has_list: bool
) -> AccountDialPolicy:
    """Return an account's dial policy, with a hash as its version.

    A stopped account's policy contains nothing that an engine could reject.
    """
    if account.is_active:
        policy = _active_policy(account, numbers, has_list=has_list)
    else:
        policy = AccountDialPolicy(destinations=(), do_not_call=has_list, is_stopped=True)
    return _with_version(policy)


def _active_policy(
    account: Account, numbers: Sequence[str], *, has_list: bool
) -> AccountDialPolicy:
    region = region_of(account.region, numbers)
    return AccountDialPolicy(
        destinations=account.destinations,
        numbers=tuple(numbers),
        country=calling_code(region),
        region=region or "",
        do_not_call=has_list,
        denied=account.denied,
        number_types=account.number_types,
        max_legs_per_call=account.max_legs_per_call or DEFAULT_LEGS_PER_CALL,
        max_live_legs=account.max_live_legs,
        max_legs_per_s=account.max_legs_per_s,
        max_minutes_per_day=account.max_minutes_per_day,
        trunks=account.trunks,
        max_calls=account.max_calls,
        max_calls_per_s=account.max_calls_per_s,
        recognizers=account.recognizers,
    )


def without_refused(policy: AccountDialPolicy, error: InvalidRequest) -> AccountDialPolicy:
    """Return a policy without what engines refuse, which allows no number.

    A trunk that they do not have is left out if another remains: without any, all are allowed.
    """
    found = [_TRUNK.fullmatch(each.path) for each in error.errors]
    unknown = {int(each[1]) for each in found if each}
    trunks = tuple(name for place, name in enumerate(policy.trunks) if place not in unknown)
    if trunks and trunks != policy.trunks:
        return _with_version(replace(policy, trunks=trunks))
    refused = {each.path.partition("[")[0] for each in error.errors}
    encoded = zip(policy.__struct_fields__, policy.__struct_encode_fields__, strict=True)
    cleared = {field: getattr(_CLOSED, field) for field, name in encoded if name in refused}
    return _with_version(replace(replace(policy, **cleared), destinations=(), trunks=()))


def _with_version(policy: AccountDialPolicy) -> AccountDialPolicy:
    """Return a policy with its hash as its version."""
    digest = hashlib.sha256(msgspec.json.encode(replace(policy, version=""))).hexdigest()
    return replace(policy, version=digest[:16])
