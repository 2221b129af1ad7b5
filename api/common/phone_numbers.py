"""Parses phone numbers of contacts to E.164.

Parsing with all rules of a country takes 25 µs. Most numbers are plain: a country code and as many
digits as its numbers have. For these the result is the same without the rules (tests compare the
two), and takes 1 µs.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, lru_cache

import phonenumbers
from phonenumbers import PhoneMetadata, PhoneNumberFormat

_SPACES = str.maketrans("", "", " \t\u00a0\u2009\u202f-().")
_ALPHABETIC = re.compile(r"[^\W\d_]")
_ROUNDED = re.compile(r"[0-9][.,][0-9]+[eE]\+?[0-9]+")
MAX_CHARS = 64


class InvalidNumber(ValueError):
    """The text is not a phone number; the message says why."""


def e164(text: str, region: str | None) -> str:
    """Convert a number to E.164; one without a + is of the region. Raises InvalidNumber."""
    plain = text.translate(_SPACES)
    if plain.isascii() and plain[1:].isdigit():
        if plain[0] == "+" and _is_plain_international(plain):
            return plain
        if region and plain[0].isdigit() and _is_plain_national(plain, region):
            return f"+{phonenumbers.country_code_for_region(region)}{plain}"
    return _parse(text, region)


def without_separators(text: str) -> str:
    """Remove separators between the digits of a number; other texts stay."""
    plain = text.translate(_SPACES)
    return plain if plain.removeprefix("+").isdecimal() and plain.isascii() else text


def canonical(text: str, region: str | None) -> str:
    """Return the E.164 form of a number in any form; any other party, or no number, as it is.

    A number without a + may have the international prefix 00, be of the region, or have its country
    code already.
    """
    plain = without_separators(text)
    if not plain.removeprefix("+").isdecimal():
        return text
    international = f"+{plain[2:]}" if plain.startswith("00") else plain
    for form in (international, f"+{plain}"):
        with suppress(InvalidNumber):
            return e164(form, region)
    return plain


def region_of(region: str | None, numbers: Sequence[str]) -> str | None:
    """Return an account's region; without one, that of its first number."""
    return region or (_region_of_number(numbers[0]) if numbers else None)


def calling_code(region: str | None) -> str:
    """Return the calling code of a region's numbers; empty: no region, or an unknown one."""
    return str(phonenumbers.country_code_for_region(region) or "") if region else ""


@lru_cache(10_000)
def _region_of_number(number: str) -> str | None:
    try:
        return phonenumbers.region_code_for_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:  # numbers from the settings are not checked
        return None


def _parse(text: str, region: str | None) -> str:
    if _ROUNDED.fullmatch(text):
        raise InvalidNumber("a spreadsheet has rounded this number")
    if len(text) > MAX_CHARS or _ALPHABETIC.search(text):
        raise InvalidNumber("not a phone number")
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException as error:
        raise InvalidNumber(_reason(text, region, error)) from None
    if number.extension:
        raise InvalidNumber("a number with an extension can't be called")
    if not phonenumbers.is_possible_number(number):
        raise InvalidNumber("too long or too short for a number of its country")
    return phonenumbers.format_number(number, PhoneNumberFormat.E164)


def _reason(text: str, region: str | None, error: phonenumbers.NumberParseException) -> str:
    if error.error_type != phonenumbers.NumberParseException.INVALID_COUNTRY_CODE:
        return "not a phone number"
    if region is None and not text.lstrip().startswith("+"):
        return "no country: expected + and its code, for the account has no region"
    return "no country has this code"


def _is_plain_international(number: str) -> bool:
    if number[1] == "0":
        return False
    for digits in (1, 2, 3):  # no country code is the prefix of another
        metadata = _metadata_of_code(number[1 : 1 + digits])
        if metadata is not None:
            return _is_plain(number[1 + digits :], metadata)
    return False


def _is_plain_national(number: str, region: str) -> bool:
    metadata = PhoneMetadata.metadata_for_region(region)
    return metadata is not None and _is_plain(number, metadata)


def _is_plain(national: str, metadata: PhoneMetadata) -> bool:
    """Return whether a number has a possible length, and no prefix to strip."""
    rules = metadata.general_desc
    if national[:1] in ("", "0") or rules is None or len(national) not in rules.possible_length:
        return False
    prefix = metadata.national_prefix_for_parsing
    exit_code = metadata.international_prefix
    return not (
        (prefix and _compiled(prefix).match(national))
        or (exit_code and _compiled(exit_code).match(national))
        or national.startswith(str(metadata.country_code))
    )


@cache
def _metadata_of_code(code: str) -> PhoneMetadata | None:
    regions = phonenumbers.COUNTRY_CODE_TO_REGION_CODE.get(int(code or 0), ())
    if not regions or regions[0] == "001":
        return None
    return PhoneMetadata.metadata_for_region(regions[0])


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def spellings(number: str) -> tuple[str, ...]:
    """Return the forms in which a route of an E.164 number may be stored, the usual one first."""
    digits = number.removeprefix("+")
    return f"+{digits}", digits, f"00{digits}"
