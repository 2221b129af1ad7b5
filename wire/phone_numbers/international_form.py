"""The international form of a number, and whether a number without a plus sign has one for certain.

See docs/decisions/0034-numbers-are-stored-in-international-form.md.
"""

import re
from functools import lru_cache

import phonenumbers
from phonenumbers import PhoneNumberFormat

_DIGITS = re.compile(r"\+?[0-9]{2,20}")
_INTERNATIONAL_PREFIX = "00"  # ITU-T E.164
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
    if number.startswith(_INTERNATIONAL_PREFIX) and len(number) >= MIN_INTERNATIONAL_CHARS:
        return f"+{number.removeprefix(_INTERNATIONAL_PREFIX)}"
    return _from_country(number, int(country)) if country else number


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
    return party.isdecimal() and not party.startswith(_INTERNATIONAL_PREFIX)


def _from_country(number: str, country: int) -> str:
    region = phonenumbers.region_code_for_country_code(country)
    try:
        parsed = phonenumbers.parse(number, region)
    except phonenumbers.NumberParseException:
        return number
    if not phonenumbers.is_valid_number(parsed):
        return number
    return phonenumbers.format_number(parsed, PhoneNumberFormat.E164)
