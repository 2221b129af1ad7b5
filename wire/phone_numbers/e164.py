"""Reads phone numbers: the one reading that every border of the platform gives a number.

A valid number is read before one that has only a possible length, also without a 0 that is too
many, and what has two readings is refused: a number on a list must not become another one. See
docs/decisions/0095-a-number-has-one-reading.md.

Most numbers are plain: a country code and as many digits as its numbers have. Reading with all
rules of the country takes 20 to 35 times as long as without them, and gives the same for these
(tests compare the two).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache

import phonenumbers
from msgspec import Struct
from phonenumbers import PhoneMetadata, PhoneNumber, PhoneNumberFormat, PhoneNumberType
from phonenumbers import ValidationResult as Length

from wire.phone_numbers.written_number import (
    AN_ADDRESS,
    InvalidNumber,
    TwoReadings,
    is_plain,
    likelier_meaning,
    written_forms,
)

INTERNATIONAL_PREFIX = "00"  # ITU-T E.164
MAX_DIGITS = 15  # ITU-T E.164, section 6.1
# Of a number without an area code: its country is given, so it can't be one of another place.
_WITH_COUNTRY = Length.IS_POSSIBLE, Length.IS_POSSIBLE_LOCAL_ONLY
_NO_COUNTRY = "001"  # the region of +800, +870 and others, which no national number belongs to
_REGIONS = {
    str(code): regions[0]  # the one with the most numbers
    for code, regions in phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items()
    if regions[0] != _NO_COUNTRY
}
_ZERO_BEHIND_CODE = re.compile(rf"(?P<code>\+(?:{'|'.join(_REGIONS)}))0+")
# Mexico has dropped its trunk prefix, and those of mobiles, in 2019: lists still have them.
_DROPPED = {52: re.compile("0?1|04[45]")}
_MOBILE = {PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE}


def e164(text: str, region: str | None) -> str:
    """Convert a number to E.164; a national one is of the region. Raises InvalidNumber."""
    forms = written_forms(text)
    if len(forms) == 1 and is_plain_e164(forms[0]):
        return forms[0]
    if meaning := likelier_meaning(text):
        if found := _as_the_region_writes(text, forms[0], region):
            return found
        raise InvalidNumber(meaning)
    for form in forms:
        if found := valid_reading(form, region):
            return found
    for form in forms:
        if found := _possible_reading(form, region):
            return found
    raise InvalidNumber(_reason(forms[0], region))


def is_plain_e164(number: str) -> bool:
    """Return whether a number of digits is E.164 without a look at all rules of its country."""
    if not number.startswith("+"):
        return False
    for end in (2, 3, 4):  # no country code is the prefix of another
        if region := _REGIONS.get(number[1:end]):
            # A 0 belongs to the number in a few countries only.
            return number[end : end + 1] != "0" and _plain_numbers(region).has(number, end)
    return False


def canonical(text: str, region: str | None) -> str:
    """Return the E.164 form of a number in any form; any other party, or no number, as it is.

    A number without a + whose region is not known has its country code already.
    """
    is_full = region is None and not likelier_meaning(text)
    forms = (text, f"+{text.strip()}") if is_full else (text,)
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
    return without_separators(text)


def without_separators(text: str) -> str:
    """Return a number without its separators, for a reader who knows its region.

    A text with a plus sign is E.164. One that may mean two numbers, such as 2193.0000, stays as it
    is: which one may depend on the region.
    """
    with suppress(InvalidNumber):
        forms = written_forms(text)
        if forms[0].startswith("+"):
            return e164(text, None)
        if len(forms) == 1:
            return forms[0]
        if forms[0].startswith(INTERNATIONAL_PREFIX):
            return next((each for each in forms if valid_reading(each, None)), text)
    return text


def valid_reading(number: str, region: str | None) -> str | None:
    """Return the valid number that digits denote, if need be with a 0 too many; None: none.

    Raises TwoReadings.
    """
    return _exact_reading(number, region) or _without_surplus(number, region)


def _exact_reading(number: str, region: str | None) -> str | None:
    if number.startswith("+"):
        return _valid(number, None)
    if found := _only(_valid(each, None) for each in _international(number, region)):
        return found
    if region is None:
        return None
    if found := _plain_national(number, region):
        return found
    national, digits = _valid(number, region), number.lstrip("0")
    if national is None:
        return _foreign(number, _valid(f"+{number}", None), region)
    if not _have_code((digits, national[1:]), region):
        return national
    full = valid_reading(f"+{digits}", None)
    if full in (None, national):
        return national
    # Of +49 151 23456789 and +49 4915 123456789, the mobile number is meant, but for a 0 before it.
    is_mobile = phonenumbers.number_type(phonenumbers.parse(full)) in _MOBILE
    if is_mobile == (digits == number):
        return full if is_mobile else national
    raise _ambiguous(national, full)


def _without_surplus(number: str, region: str | None) -> str | None:
    """Return the valid number that digits denote without zeros that don't belong there.

    As in 0 602 123 456 of Poland, which has no trunk prefix, +48 0 602…, and 0 48 602….
    """
    forms = _international(number, region) or (number,)
    found = _only(each for form in forms for each in _valid_without_zeros(form, region))
    if found is None and _have_code([digits := number.lstrip("0")], region):
        full = f"+{digits}"
        found = _valid(full, None) or _only(_valid_without_zeros(full, None))
    if found is None:
        return None
    code = str(phonenumbers.parse(found).country_code)
    others = [_possible(form, _of(form, region), _WITH_COUNTRY) for form in forms]
    others += [_valid(each, region) for each in _without_first_zeros(number)]
    for other in filter(None, others):
        if not other.startswith(f"+{code}"):
            raise _ambiguous(other, found)
    return found


def _valid_without_zeros(number: str, region: str | None) -> Iterator[str]:
    return filter(None, (_valid(each, None) for each in _without_zeros(number, region)))


def _without_zeros(number: str, region: str | None) -> Iterator[str]:
    """Yield the full number without the zeros, or the old prefix, before its national part."""
    parsed = _parsed(number, _of(number, region))
    if parsed is None:
        return
    national, code = phonenumbers.national_significant_number(parsed), parsed.country_code
    yield from (f"+{code}{each}" for each in _without_first_zeros(national))
    if found := code in _DROPPED and _DROPPED[code].match(national):
        yield f"+{code}{national[found.end() :]}"


def _without_first_zeros(digits: str) -> Iterator[str]:
    """Yield digits without one 0, without two, and so on."""
    zeros = len(digits) - len(digits.lstrip("0"))
    return (digits[end:] for end in range(1, zeros + 1))


def _of(number: str, region: str | None) -> str | None:
    """Return the region in which digits are read: none after a plus sign."""
    return None if number.startswith("+") else region


def _have_code(numbers: Iterable[str], region: str | None) -> bool:
    code = calling_code(region)
    return bool(code) and all(each.startswith(code) for each in numbers)


def beginnings(digits: str, region: str | None) -> tuple[str, ...]:
    """Return what numbers in full begin with that are written with these digits at the beginning.

    Without a +, they may have the country's code, or be a number's of the region.
    """
    if digits.startswith("+"):
        return digits, _ZERO_BEHIND_CODE.sub(r"\g<code>", digits)
    full, code = (f"+{digits}", _behind_own_prefix(digits, region)), calling_code(region)
    national = (digits, digits.lstrip("0"), _behind_trunk_prefix(digits, region)) if code else ()
    found = (*filter(None, full), *(f"+{code}{each}" for each in national))
    return tuple(each for each in found if not each.startswith("+0"))


def spellings(number: str) -> tuple[str, ...]:
    """Return the forms in which a number is dialled or stored: the given one, then the others.

    A trunk prefix or a 0 too many behind the country's code is left out in the last ones.
    """
    if not is_plain(number):
        return (number,)
    digits = number.removeprefix("+")
    if number.startswith(INTERNATIONAL_PREFIX):
        digits = digits.removeprefix(INTERNATIONAL_PREFIX)
    forms, full = _forms(digits), f"+{digits}"
    for read in (parsed_form(full), normalized(full)):
        forms += _forms(read.removeprefix("+"))
    return tuple(dict.fromkeys((number, *forms)))


def _forms(digits: str) -> tuple[str, ...]:
    return f"+{digits}", digits, f"{INTERNATIONAL_PREFIX}{digits}"


@lru_cache(maxsize=8_192)
def parsed_form(number: str) -> str:
    """Return a number with a plus sign without its trunk prefix, also if it is too long.

    Unchanged if it is of no country.
    """
    if is_plain_e164(number):
        return number
    parsed = _parsed(number, None)
    return phonenumbers.format_number(parsed, PhoneNumberFormat.E164) if parsed else number


def region_of(region: str | None, numbers: Sequence[str]) -> str | None:
    """Return an account's region; without one, that of its first number that has a country."""
    return region or next(filter(None, map(_region_of_number, numbers)), None)


def main_region(code: str) -> str:
    """Return the region, of those with a calling code, that has the most numbers; empty: none."""
    return _REGIONS.get(code, "")


def calling_code(region: str | None) -> str:
    """Return the calling code of a region's numbers; empty: no region, or an unknown one."""
    return str(phonenumbers.country_code_for_region(region) or "") if region else ""


@lru_cache(10_000)
def _region_of_number(number: str) -> str | None:
    try:
        found = phonenumbers.region_code_for_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:  # numbers from the settings are not checked
        return None
    return None if found == _NO_COUNTRY else found


def _foreign(number: str, full: str | None, region: str) -> str | None:
    """Return a number of another country, unless it may be one of the region."""
    if full is None or (national := _possible(number, region)) in (None, full):
        return full
    raise _ambiguous(national, full)


def _possible_reading(number: str, region: str | None) -> str | None:
    """Return the number of a possible length that digits denote, if no other reading is likely."""
    digits, others = number.lstrip("0"), list[str | None]()
    if forms := (number,) if number.startswith("+") else _international(number, region):
        found = _only(_possible(each, None, _WITH_COUNTRY) for each in forms)
    else:
        found = _possible(number, region) if region else None
    is_own = found is not None and _have_code([found[1:]], region)
    if forms and not (is_own and found in forms):  # it may be a national number behind zeros
        others += [_valid(each, region) for each in _without_first_zeros(number)]
    elif not forms and is_own and _have_code([digits], region):
        others.append(_possible(f"+{digits}", None))
    if found is None:
        return _only((forms[0], *others)) if any(others) else None
    if not _may_begin_with_zero(found):
        others += [_possible(each, None) for each in _without_zeros(found, None)]
    return _only((found, *others))


def _may_begin_with_zero(number: str) -> bool:
    """Return whether a country's usual numbers begin with a 0, as in Italy and the Ivory Coast."""
    region = main_region(str(phonenumbers.parse(number).country_code))
    metadata = PhoneMetadata.metadata_for_region(region)
    lines = filter(None, (metadata.mobile, metadata.fixed_line)) if metadata else ()
    return any((each.example_number or "").startswith("0") for each in lines)


def _international(number: str, region: str | None) -> tuple[str, ...]:
    """Return what a number with a prefix of international calls may mean, with a plus sign.

    Many countries have another prefix than 00, or one for each carrier, and several of them begin
    with 00: of 0011 47…, an Australian dials Norway. A carrier's SIP has 00 everywhere.
    """
    if not number.startswith(INTERNATIONAL_PREFIX):
        return ()  # the library reads a region's other prefixes
    usual, own = f"+{number[2:]}", _behind_own_prefix(number, region)
    if own in {None, usual}:
        return (usual,)
    # +1 147… is not written as 00 11 47…: what needs a trunk prefix removed is not meant. But many
    # write 0082 010… for +82 10….
    is_meant = parsed_form(usual) == usual or _ZERO_BEHIND_CODE.match(usual)
    return (own, usual) if is_meant else (own,)


def _behind_own_prefix(number: str, region: str | None) -> str | None:
    """Return what follows the prefix that a region dials before other countries' numbers."""
    metadata = PhoneMetadata.metadata_for_region(region) if region else None
    found = metadata and _compiled(metadata.international_prefix or "(?!)").match(number)
    rest = number[found.end() :] if found else ""
    return f"+{rest}" if rest and not rest.startswith("0") else None


def _behind_trunk_prefix(digits: str, region: str | None) -> str:
    """Return what follows the prefix of a region's national calls, such as 8, 06 or 1."""
    metadata = PhoneMetadata.metadata_for_region(region) if region else None
    prefix = (metadata and metadata.national_prefix_for_parsing) or ""
    found = _compiled(prefix).match(digits)
    if found is None:
        return digits
    # Behind it, the pattern may name a carrier's code, or an area that a number can leave out.
    begun = [start for start, _ in found.regs[1:] if start >= 0]
    return digits[min(begun, default=found.end()) :]


def _only(readings: Iterable[str | None]) -> str | None:
    """Return the only number of some readings; None: there is none. Raises TwoReadings."""
    found = tuple(dict.fromkeys(filter(None, readings)))
    if len(found) > 1:
        raise _ambiguous(found[0], found[1])
    return found[0] if found else None


def _as_the_region_writes(text: str, number: str, region: str | None) -> str | None:
    """Return the valid number of the region, if a text like a date or an address is one there."""
    found = _valid(number, region) if region else None
    if found is None or not found.startswith(f"+{calling_code(region)}"):
        return None
    if likelier_meaning(text) == AN_ADDRESS:
        return found
    shown = phonenumbers.format_number(phonenumbers.parse(found), PhoneNumberFormat.NATIONAL)
    return found if re.findall("[0-9]+", shown) == re.findall("[0-9]+", text) else None


def _ambiguous(national: str, full: str) -> TwoReadings:
    return TwoReadings(f"{national} or {full}? expected + and the country's code")


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
    """Return the E.164 form of a number; None if it has too many digits, or is read as another."""
    number = phonenumbers.format_number(parsed, PhoneNumberFormat.E164)
    return number if len(number) <= 1 + MAX_DIGITS and parsed_form(number) == number else None


def _reason(number: str, region: str | None) -> str:
    international = number.startswith(("+", INTERNATIONAL_PREFIX))
    if region is None and not international:
        return "no country: expected + and its code, for the account has no region"
    try:
        parsed = phonenumbers.parse(number, region)
    except phonenumbers.NumberParseException as error:
        if error.error_type == phonenumbers.NumberParseException.INVALID_COUNTRY_CODE:
            return "no country has this code"
        is_too_long = error.error_type == phonenumbers.NumberParseException.TOO_LONG
    else:
        full = phonenumbers.format_number(parsed, PhoneNumberFormat.E164)
        is_too_long = len(full) > 1 + MAX_DIGITS
    if is_too_long:
        return f"too long: a number has at most {MAX_DIGITS} digits with its country code"
    return "too long or too short for a number of its country"


def _plain_national(number: str, region: str) -> str | None:
    """Return a number of a region's usual lines, without a prefix; None: it takes all rules."""
    metadata = PhoneMetadata.metadata_for_region(region)
    if metadata is None or not _plain_numbers(region).has(number):
        return None
    lines = filter(None, (metadata.mobile, metadata.fixed_line))
    patterns = filter(None, (each.national_number_pattern for each in lines))
    is_usual = any(_compiled(each).fullmatch(number) for each in patterns)
    return f"+{metadata.country_code}{number}" if is_usual else None


class _PlainNumbers(Struct, frozen=True):
    """The numbers of a region that have a possible length, and no prefix to strip."""

    pattern: re.Pattern[str]
    prefix: re.Pattern[str]  # of national calls; that of Argentina may be empty

    def has(self, number: str, start: int = 0) -> bool:
        if not self.pattern.fullmatch(number, start):
            return False
        found = self.prefix.match(number, start)
        return found is None or found.end() == start


@cache
def _plain_numbers(region: str) -> _PlainNumbers:
    metadata = PhoneMetadata.metadata_for_region(region)
    rules = metadata.general_desc if metadata else None
    if metadata is None or rules is None:
        return _PlainNumbers(_compiled("(?!)"), _compiled(""))
    code = str(metadata.country_code)
    lengths = (each for each in rules.possible_length if 0 < each <= MAX_DIGITS - len(code))
    possible = "|".join(f"[0-9]{{{each}}}" for each in lengths) or "(?!)"
    exit_code = metadata.international_prefix or INTERNATIONAL_PREFIX
    pattern = f"(?!{INTERNATIONAL_PREFIX}|{code}|{exit_code})(?:{possible})"
    return _PlainNumbers(_compiled(pattern), _compiled(metadata.national_prefix_for_parsing or ""))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
