"""Phone numbers of contacts, as E.164 has them.

Reading one with all of its country's rules takes 25 µs. Most in a file are plain: a country's code
and as many digits as numbers there have. For these the rules say the same (tests compare the two),
and they take 1 µs.
"""

import re
from functools import cache

import phonenumbers
from phonenumbers import PhoneMetadata, PhoneNumberFormat

_SPACES = str.maketrans("", "", " \t\u00a0\u2009\u202f-().")
_LETTERS = re.compile(r"[^\W\d_]")
_ROUNDED = re.compile(r"[0-9][.,][0-9]+[eE]\+?[0-9]+")
MAX_CHARS = 64


class InvalidNumber(ValueError):
    """What was given is no phone number; its text says why."""


def e164(text: str, region: str | None) -> str:
    """Read a number; one without a + is of the region. Raises NoNumber."""
    plain = text.translate(_SPACES)
    if plain.isascii() and plain[1:].isdigit():
        if plain[0] == "+" and _is_plain_abroad(plain):
            return plain
        if region and plain[0].isdigit() and _is_plain_at_home(plain, region):
            return f"+{phonenumbers.country_code_for_region(region)}{plain}"
    return _by_all_rules(text, region)


def _by_all_rules(text: str, region: str | None) -> str:
    if _ROUNDED.fullmatch(text):
        raise InvalidNumber("a spreadsheet has rounded this number")
    if len(text) > MAX_CHARS or _LETTERS.search(text):
        raise InvalidNumber("not a phone number")
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException as error:
        raise InvalidNumber(_why(text, region, error)) from None
    if number.extension:
        raise InvalidNumber("a number with an extension can't be called")
    if not phonenumbers.is_possible_number(number):
        raise InvalidNumber("too long or too short for a number of its country")
    return phonenumbers.format_number(number, PhoneNumberFormat.E164)


def _why(text: str, region: str | None, error: phonenumbers.NumberParseException) -> str:
    if error.error_type != phonenumbers.NumberParseException.INVALID_COUNTRY_CODE:
        return "not a phone number"
    if region is None and not text.lstrip().startswith("+"):
        return "no country: expected + and its code, for the account has no region"
    return "no country has this code"


def _is_plain_abroad(number: str) -> bool:
    if number[1] == "0":
        return False
    for digits in (1, 2, 3):  # no code begins as another one
        metadata = _metadata_of_code(number[1 : 1 + digits])
        if metadata is not None:
            return _is_plain(number[1 + digits :], metadata)
    return False


def _is_plain_at_home(number: str, region: str) -> bool:
    metadata = PhoneMetadata.metadata_for_region(region)
    return metadata is not None and _is_plain(number, metadata)


def _is_plain(national: str, metadata: PhoneMetadata) -> bool:
    """Tell whether there is nothing to take off, and as many digits are left as there should be."""
    rules = metadata.general_desc
    if national[:1] in ("", "0") or rules is None or len(national) not in rules.possible_length:
        return False
    prefix = metadata.national_prefix_for_parsing
    abroad = metadata.international_prefix
    return not (
        (prefix and _compiled(prefix).match(national))
        or (abroad and _compiled(abroad).match(national))
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
