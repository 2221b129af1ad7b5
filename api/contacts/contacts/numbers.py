"""Parses the number of a search: a prefix, with or without a country code."""

import re

import phonenumbers

from wire.errors import BadInput

MAX_CHARS = 32
_SEPARATORS = re.compile(r"[\s\-().]")
_DIGITS = re.compile(r"\+?[0-9]{1,20}", re.ASCII)


def number_prefixes(path: str, text: str, region: str | None) -> tuple[str, ...]:
    """Return the prefixes of E.164 numbers that match; raises BadInput.

    Without a +, the text is read both with a country code and as a number of the account's region.
    """
    # A plus sign that was not escaped arrives as a space.
    plain = _SEPARATORS.sub("", re.sub("^ ", "+", text))
    plain = re.sub("^00", "+", plain)
    if len(text) > MAX_CHARS or not _DIGITS.fullmatch(plain):
        raise BadInput(path, "expected the beginning of a number, such as +4721")
    if plain.startswith("+"):
        return (plain,)
    code = phonenumbers.country_code_for_region(region) if region else 0
    national = (plain, plain.lstrip("0")) if code else ()
    prefixes = (f"+{plain}", *(f"+{code}{each}" for each in national))
    return tuple(dict.fromkeys(each for each in prefixes if not each.startswith("+0")))
