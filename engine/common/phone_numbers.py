"""Forms of a phone number: with and without +, 00, separators and parameters.

See docs/decisions/0034-numbers-are-stored-in-international-form.md.
"""

import re
from functools import lru_cache

import phonenumbers
from phonenumbers import PhoneNumberFormat

_SEPARATORS = re.compile(r"[ ().\-]")
_DIGITS = re.compile(r"\+?[0-9]{2,20}")
_INTERNATIONAL_PREFIX = "00"  # ITU-T E.164
MIN_INTERNATIONAL_CHARS = 8


def strip_parameters(number: str) -> str:
    """Return the number of a user part or tel: URI, without parameters and separators."""
    if _DIGITS.fullmatch(number):
        return number
    without_scheme = number[4:] if number[:4].lower() == "tel:" else number
    bare = without_scheme.partition(";")[0].strip(" ")
    plain = _SEPARATORS.sub("", bare)
    return plain if _DIGITS.fullmatch(plain) else bare


def spellings(number: str) -> tuple[str, ...]:
    """Return the number as dialled, then its other international spellings."""
    if not _DIGITS.fullmatch(number):
        return (number,)
    digits = number.removeprefix("+")
    if number.startswith(_INTERNATIONAL_PREFIX):
        digits = digits.removeprefix(_INTERNATIONAL_PREFIX)
    others = (f"+{digits}", digits, f"{_INTERNATIONAL_PREFIX}{digits}")
    return tuple(dict.fromkeys((number, *others)))


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


def _from_country(number: str, country: int) -> str:
    region = phonenumbers.region_code_for_country_code(country)
    try:
        parsed = phonenumbers.parse(number, region)
    except phonenumbers.NumberParseException:
        return number
    if not phonenumbers.is_valid_number(parsed):
        return number
    return phonenumbers.format_number(parsed, PhoneNumberFormat.E164)
