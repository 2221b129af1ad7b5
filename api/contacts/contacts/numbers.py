"""A number that contacts are looked for by: its beginning, with or without its country."""

import re

import phonenumbers

from wire.errors import BadInput

MAX_CHARS = 32
_BETWEEN = re.compile(r"[\s\-().]")
_DIGITS = re.compile(r"\+?[0-9]{1,20}", re.ASCII)


def number_prefixes(path: str, text: str, region: str | None) -> tuple[str, ...]:
    """Read what numbers in E.164 may begin with; raises BadInput.

    Without a + it is both: a country's code, and a number of the account's region.
    """
    # A plus sign that was not escaped arrives as a space.
    plain = _BETWEEN.sub("", re.sub("^ ", "+", text))
    plain = re.sub("^00", "+", plain)
    if len(text) > MAX_CHARS or not _DIGITS.fullmatch(plain):
        raise BadInput(path, "expected the beginning of a number, such as +4721")
    if plain.startswith("+"):
        return (plain,)
    code = phonenumbers.country_code_for_region(region) if region else 0
    at_home = (plain, plain.lstrip("0")) if code else ()
    found = (f"+{plain}", *(f"+{code}{each}" for each in at_home))
    return tuple(dict.fromkeys(each for each in found if not each.startswith("+0")))
