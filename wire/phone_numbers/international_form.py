"""The international form of a number, and whether a number without a plus sign has one for certain.

See docs/decisions/0034-numbers-are-stored-in-international-form.md.
"""

import re
from functools import lru_cache

import phonenumbers

from wire.phone_numbers.e164 import INTERNATIONAL_PREFIX, valid_reading
from wire.phone_numbers.written_number import InvalidNumber

_DIGITS = re.compile(r"\+?[0-9]{2,20}")
MIN_INTERNATIONAL_CHARS = 8
# The shortest full numbers, such as those of Niue, have so many digits with their country code.
_WITHOUT_COUNTRY = re.compile(r"(?!00)[0-9]{7,}")
NEEDS_COUNTRY = "a number needs its country code and a plus sign, such as +4721930000"


@lru_cache(maxsize=4_096)
def international(number: str, country: str) -> str:
    """Return a number as +, country and number; unchanged if its country is not known.

    `country` is the calling code of numbers without one; empty: they stay as they are.
    """
    if not _DIGITS.fullmatch(number) or number.startswith("+"):
        return number
    region = phonenumbers.region_code_for_country_code(int(country)) if country else None
    try:
        found = valid_reading(number, region)
    except InvalidNumber:  # it has two readings
        return number
    if not found and number.startswith(INTERNATIONAL_PREFIX):
        is_full = len(number) >= MIN_INTERNATIONAL_CHARS
        return f"+{number.removeprefix(INTERNATIONAL_PREFIX)}" if is_full else number
    return found or number


def to_dial(party: str, country: str) -> str | None:
    """Return what a party is dialled as; None for a number whose country is not certain.

    A carrier may take digits without a plus sign for a number of any country: those of an account's
    own country get its code. A short number, such as 112, is the carrier's, and stays as it is.
    """
    if not _WITHOUT_COUNTRY.fullmatch(party):
        return party
    number = international(party, country)
    return number if number.startswith("+") else None


def lacks_plus(party: str) -> bool:
    """Return whether a party is a number that begins with neither a plus sign nor 00."""
    return party.isdecimal() and not party.startswith(INTERNATIONAL_PREFIX)
