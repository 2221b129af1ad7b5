"""The number of a SIP user part or tel: URI, without parameters and separators.

See docs/decisions/0095-a-number-has-one-reading.md.
"""

import re

_SEPARATORS = re.compile(r"[ ().\-]")
_DIGITS = re.compile(r"\+?[0-9]{2,20}")


def strip_parameters(number: str) -> str:
    """Return the number of a user part or tel: URI, without parameters and separators."""
    if _DIGITS.fullmatch(number):
        return number
    without_scheme = number[4:] if number[:4].lower() == "tel:" else number
    bare = without_scheme.partition(";")[0].strip(" ")
    plain = _SEPARATORS.sub("", bare)
    return plain if _DIGITS.fullmatch(plain) else bare
