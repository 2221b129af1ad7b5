"""Reads phone numbers: the one reading that every border of the platform gives a number.

A valid number is read before one that has only a possible length, and what has two readings is
refused: a number on a list must not become another number. See
docs/decisions/0034-numbers-are-stored-in-international-form.md.

Most numbers are plain: a country code and as many digits as its numbers have. Reading with all
rules of the country takes 20 to 35 times as long as without them, and gives the same for these
(tests compare the two).
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, lru_cache

import phonenumbers
from phonenumbers import PhoneMetadata, PhoneNumber, PhoneNumberFormat, PhoneNumberType
from phonenumbers import ValidationResult as Length

from wire.phone_numbers.written_number import InvalidNumber, is_plain, plain, written_forms

INTERNATIONAL_PREFIX = "00"  # ITU-T E.164
MAX_DIGITS = 15  # ITU-T E.164, section 6.1
# Of a number without an area code: its country is given, so it can't be one of another place.
_WITH_COUNTRY = Length.IS_POSSIBLE, Length.IS_POSSIBLE_LOCAL_ONLY
_MOBILE = {PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE}


def e164(text: str, region: str | None) -> str:
    """Convert a number to E.164; one without a + or 00 is of the region. Raises InvalidNumber."""
    number = plain(text)
    if is_plain(number):
        if number[0] == "+" and _is_plain_international(number):
            return number
        if region and (found := _plain_national(number, region)):
            return found
    forms = written_forms(text)
    for form in forms:
        if found := valid_reading(form, region):
            return found
    for form in forms:
        if found := _possible_reading(form, region):
            return found
    raise InvalidNumber(_reason(forms[0], region))


def canonical(text: str, region: str | None) -> str:
    """Return the E.164 form of a number in any form; any other party, or no number, as it is.

    A number without a + whose region is not known has its country code already.
    """
    forms = (text, f"+{text.strip()}") if region is None else (text,)
    for form in forms:
        with suppress(InvalidNumber):
            return e164(form, region)
    return normalized(text)


def normalized(text: str) -> str:
    """Return a number without its separators, whose region is not known; any other text as it is.

    It is E.164 if it has its country's code.
    """
    with suppress(InvalidNumber):
        return e164(text, None)
    with suppress(InvalidNumber):
        return written_forms(text)[0]
    return text


def valid_reading(number: str, region: str | None) -> str | None:
    """Return the valid number that digits denote; None: there is none.

    Raises InvalidNumber if there are two.
    """
    if number.startswith("+"):
        return _valid(number, None)
    if number.startswith(INTERNATIONAL_PREFIX) and (found := _valid(f"+{number[2:]}", None)):
        return found
    if region is None:
        return None
    if found := _plain_national(number, region):
        return found
    national, full = _valid(number, region), _valid(f"+{number}", None)
    if national == full or not (national and full):
        return national or _foreign(number, full, region)
    if not number.startswith(calling_code(region)):
        return national
    # Of +49 151 23456789 and +49 4915 123456789, the mobile number is meant.
    if phonenumbers.number_type(phonenumbers.parse(full)) in _MOBILE:
        return full
    raise _ambiguous(national, full)


def spellings(number: str) -> tuple[str, ...]:
    """Return the forms in which a number is dialled or stored: the given one, then the others."""
    if not is_plain(number):
        return (number,)
    digits = number.removeprefix("+")
    if number.startswith(INTERNATIONAL_PREFIX):
        digits = digits.removeprefix(INTERNATIONAL_PREFIX)
    others = (f"+{digits}", digits, f"{INTERNATIONAL_PREFIX}{digits}")
    return tuple(dict.fromkeys((number, *others)))


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


def _foreign(number: str, full: str | None, region: str) -> str | None:
    """Return a number of another country, unless it may be one of the region."""
    national = _possible(number, region)
    if full is None or national in (None, full):
        return full
    raise _ambiguous(national or "", full)


def _possible_reading(number: str, region: str | None) -> str | None:
    if number.startswith("+"):
        return _possible(number, None, _WITH_COUNTRY)
    if number.startswith(INTERNATIONAL_PREFIX):
        return _possible(f"+{number[2:]}", None, _WITH_COUNTRY)
    if region is None:
        return None
    national, full = _possible(number, region), _possible(f"+{number}", None)
    if national and full and national != full and number.startswith(calling_code(region)):
        raise _ambiguous(national, full)
    return national


def _ambiguous(national: str, full: str) -> InvalidNumber:
    return InvalidNumber(f"{national} or {full}? expected + and the country's code")


def _valid(number: str, region: str | None) -> str | None:
    parsed = _parsed(number, region)
    return _format(parsed) if parsed and phonenumbers.is_valid_number(parsed) else None


def _possible(
    number: str, region: str | None, lengths: Sequence[int] = (Length.IS_POSSIBLE,)
) -> str | None:
    parsed = _parsed(number, region)
    if parsed is None:
        return None
    length = phonenumbers.is_possible_number_with_reason(parsed)
    return _format(parsed) if length in lengths else None


def _parsed(number: str, region: str | None) -> PhoneNumber | None:
    with suppress(phonenumbers.NumberParseException):
        return phonenumbers.parse(number, region)
    return None


def _format(parsed: PhoneNumber) -> str | None:
    number = phonenumbers.format_number(parsed, PhoneNumberFormat.E164)
    return number if len(number) <= 1 + MAX_DIGITS else None


def _reason(number: str, region: str | None) -> str:
    international = number.startswith(("+", INTERNATIONAL_PREFIX))
    if region is None and not international:
        return "no country: expected + and its code, for the account has no region"
    try:
        phonenumbers.parse(number, region)
    except phonenumbers.NumberParseException as error:
        if error.error_type == phonenumbers.NumberParseException.INVALID_COUNTRY_CODE:
            return "no country has this code"
    return "too long or too short for a number of its country"


def _is_plain_international(number: str) -> bool:
    if number[1:2] in ("", "0"):
        return False
    for digits in (1, 2, 3):  # no country code is the prefix of another
        metadata = _metadata_of_code(number[1 : 1 + digits])
        if metadata is not None:
            return _is_plain(number[1 + digits :], metadata)
    return False


def _plain_national(number: str, region: str) -> str | None:
    """Return a number of a region's usual lines, without a prefix; None: it takes all rules."""
    metadata = PhoneMetadata.metadata_for_region(region)
    if metadata is None or not _is_plain(number, metadata):
        return None
    lines = filter(None, (metadata.mobile, metadata.fixed_line))
    patterns = filter(None, (each.national_number_pattern for each in lines))
    is_usual = any(_compiled(each).fullmatch(number) for each in patterns)
    return f"+{metadata.country_code}{number}" if is_usual else None


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
        or len(national) + len(str(metadata.country_code)) > MAX_DIGITS
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
