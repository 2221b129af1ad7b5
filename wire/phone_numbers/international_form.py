"""What a number is dialled and shown as: what a list would store for it.

See docs/decisions/0095-a-number-has-one-reading.md.
"""

import re
from collections.abc import Collection
from functools import lru_cache

from wire.phone_numbers.e164 import INTERNATIONAL_PREFIX, e164, is_plain_e164, valid_reading
from wire.phone_numbers.written_number import InvalidNumber, TwoReadings

_DIGITS = re.compile(r"\+?[0-9]{2,20}")
# Without a country: the shortest full numbers, such as those of Niue, have 7 digits with its code.
_FULL = re.compile(r"(?:\+|00)[0-9]{1,20}|[0-9]{7,20}")
NEEDS_COUNTRY = "a number needs its country code and a plus sign, such as +4721930000"


@lru_cache(maxsize=8_192)
def international(number: str, region: str) -> str:
    """Return a number as +, country and number; unchanged if its country is not certain.

    `region` is that of numbers without a country; empty: they stay as they are.
    """
    if is_plain_e164(number) or not _DIGITS.fullmatch(number):
        return number
    try:
        if _FULL.fullmatch(number):
            return e164(number, region or None)
        return valid_reading(number, region or None) or number
    except InvalidNumber:
        return number


def to_dial(party: str, region: str) -> str | None:
    """Return what a party is dialled as; None for a number whose country is not certain.

    A carrier may take digits without a plus sign for a number of any country: those of an account's
    own region get its code. A short number, such as 112, is the carrier's, and stays as it is.
    """
    if not _FULL.fullmatch(party):
        return party
    number = international(party, region)
    if not is_plain_e164(number) and _has_two_readings(number, region):
        return None  # a do-not-call list may have either
    return number if number.startswith(("+", INTERNATIONAL_PREFIX)) else None


@lru_cache(maxsize=8_192)
def _has_two_readings(number: str, region: str) -> bool:
    try:
        e164(number, region or None)
    except TwoReadings:
        return True
    except InvalidNumber:
        pass
    return False


def dialled(party: str, region: str) -> str:
    """Return what a party is dialled as; itself if it is not dialled."""
    return to_dial(party, region) or party


def own_number(text: str, numbers: Collection[str], region: str) -> str:
    """Return the one of an account's numbers that a text denotes, in any spelling; empty: none."""
    for each in (text, f"+{text.removeprefix('+')}"):
        if (number := international(each, region)) in numbers:
            return number
    return ""


def is_short(party: str) -> bool:
    """Return whether a party is a number that is dialled as it is, such as 112."""
    return party.isdecimal() and not _FULL.fullmatch(party)


def lacks_plus(party: str) -> bool:
    """Return whether a party is a number that begins with neither a plus sign nor 00."""
    return party.isdecimal() and not party.startswith(INTERNATIONAL_PREFIX)
