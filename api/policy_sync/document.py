"""An account's terms as engines have them, made of what the database has."""

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
    """Make terms, with a version that is another when they are; who is not active calls nobody.

    What is dialled without a country is taken for the account's region, or its first number's.
    """
    region = account.region or (_region(numbers[0]) if numbers else None)
    terms = AccountDialPolicy(
        destinations=account.destinations if account.is_active else (),
        numbers=tuple(numbers),
        country=_calling_code(region),
        do_not_call=has_list,
    )
    digest = hashlib.sha256(msgspec.json.encode(terms)).hexdigest()
    return replace(terms, version=digest[:16])


def _calling_code(region: str | None) -> str:
    return str(phonenumbers.country_code_for_region(region) or "") if region else ""


@lru_cache(10_000)
def _region(number: str) -> str | None:
    try:
        return phonenumbers.region_code_for_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:  # the settings may give an account any
        return None
