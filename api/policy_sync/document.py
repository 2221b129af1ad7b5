"""Builds the dial policy of an account, as engines store it."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import msgspec
import phonenumbers
from msgspec.structs import replace

from api.accounts.store import Account
from wire.dial_policy import AccountDialPolicy


def dial_policy_of(
    account: Account, numbers: Sequence[str], *, has_list: bool
) -> AccountDialPolicy:
    """Return an account's dial policy, with a hash as its version; inactive accounts may not call.

    Numbers without a country code belong to the account's region, else to its first number's.
    """
    region = account.region or (_region(numbers[0]) if numbers else None)
    policy = AccountDialPolicy(
        destinations=account.destinations if account.is_active else (),
        numbers=tuple(numbers),
        country=_calling_code(region),
        do_not_call=has_list,
    )
    digest = hashlib.sha256(msgspec.json.encode(policy)).hexdigest()
    return replace(policy, version=digest[:16])


def _calling_code(region: str | None) -> str:
    return str(phonenumbers.country_code_for_region(region) or "") if region else ""


@lru_cache(10_000)
def _region(number: str) -> str | None:
    try:
        return phonenumbers.region_code_for_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:  # numbers from the settings are not checked
        return None
