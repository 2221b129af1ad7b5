"""Sealed digits: the form that the digits of a sensitive gather have in a call and all its records.

The shell seals a digit before the core receives it (`engine.runtime.io.digit_sealer`), and opens it
for the gather's webhook. The core counts and concatenates sealed digits; it cannot read them. `*`
and `#` are not sealed, since the core compares them with terminators.
"""

import re

MARK = "~"
TOKEN_BYTES = 29  # nonce, one encrypted digit, tag
TOKEN_LENGTH = 40  # the mark and the bytes in base64
UNSEALED = frozenset("*#")
DOT = "•"  # a sealed digit, for a reader
_SEALED = re.compile(rf"{MARK}[A-Za-z0-9_-]{{{TOKEN_LENGTH - 1}}}")


def is_sealed(digit: str) -> bool:
    return digit.startswith(MARK)


def count_keys(digits: str) -> int:
    """Return how many keys were pressed for these digits, sealed ones or not."""
    return len(digits) - digits.count(MARK) * (TOKEN_LENGTH - 1)


def hide_sealed(text: str) -> str:
    """Return a text in which sealed digits are dots."""
    return _SEALED.sub(DOT, text) if MARK in text else text
