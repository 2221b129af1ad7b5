"""Forms of a phone number: with and without +, 00, separators and parameters.

See docs/decisions/0034-numbers-are-stored-in-international-form.md.
"""

import re

_SEPARATORS = re.compile(r"[ ().\-]")
_DIGITS = re.compile(r"\+?[0-9]{2,20}")
_INTERNATIONAL_PREFIX = "00"  # ITU-T E.164


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
