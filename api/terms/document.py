"""An account's terms as engines have them, made of what the database has."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import msgspec
import phonenumbers
from msgspec.structs import replace

from api.accounts.store import Account
from wire.terms import Terms


def terms_of(account: Account, numbers: Sequence[str], *, has_list: bool) -> Terms:
    """Make terms, with a version that is another when they are; who is not active calls nobody."""
    region = region_of(numbers)
    terms = Terms(
        destinations=account.destinations if account.is_active else (),
        numbers=tuple(numbers),
        country=str(phonenumbers.country_code_for_region(region)) if region else "",
        do_not_call=has_list,
    )
    digest = hashlib.sha256(msgspec.json.encode(terms)).hexdigest()
    return replace(terms, version=digest[:16])


def region_of(numbers: Sequence[str]) -> str | None:
    """Tell in which country numbers without one are: that of the account's first."""
    return _region(numbers[0]) if numbers else None


@lru_cache(10_000)
def _region(number: str) -> str | None:
    try:
        return phonenumbers.region_code_for_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:  # the settings may give an account any
        return None
