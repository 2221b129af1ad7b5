"""Texts of strangers without characters that do something: to a terminal, a log or a database."""

import re

# Marks and controls of right-to-left scripts that reverse what is beside them (Unicode TR 9).
BIDI_CONTROLS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
# Also ends of lines, and halves of surrogate pairs, which no encoding has.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_WITHOUT_BIDI = dict.fromkeys(BIDI_CONTROLS)


def printable(text: str) -> str:
    """Return a text with a space for control characters, without those that reverse it.

    There are no spaces around it.
    """
    if not text.isprintable():  # few are not
        text = _CONTROLS.sub(" ", text.translate(_WITHOUT_BIDI))
    return text.strip()
