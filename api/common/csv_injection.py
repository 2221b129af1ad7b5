"""Customer text in CSV files: spreadsheets must not run it as formulas (CSV injection)."""

import csv
import io
import re
import string
from collections.abc import Iterable, Sequence
from typing import Any

# Characters that start a formula in a spreadsheet (OWASP, "CSV Injection"); the last four are
# full-width forms of the first. Programs may remove blanks and apostrophes before them.
_FORMULA = re.compile(r"[\s']*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"\+?[0-9]{1,20}")
_PLAIN = frozenset(string.ascii_letters + string.digits + "{")
# Where semicolons (most of Europe) or tabs separate cells, a cell starts in the middle of a text.
# Each run of separators, spaces and quotes is read once: a text may have thousands of them.
_SEPARATORS = r"(?<![\s\";])(?=[\s\"]*[;\t\r\n])([\s\";]++)"
_NO_NUMBER = r"(?!\+[0-9]{1,20}\s*(?:[;\t\r\n]|$))"
_SIGN = r"(?='*[=+\-@\uff1d\uff0b\uff0d\uff20])"
_INSIDE = re.compile(f"{_SEPARATORS}{_NO_NUMBER}{_SIGN}")
_ESCAPED_INSIDE = re.compile(f"{_SEPARATORS}'{_NO_NUMBER}{_SIGN}")


def escape_formula(value: Any) -> Any:
    """Put an apostrophe before a text that starts a formula; phone numbers stay as they are.

    Before apostrophes that precede a formula, too: `unescape_formula` removes one of them.
    """
    if not isinstance(value, str) or not value or _is_plain(value) or _NUMBER.fullmatch(value):
        return value
    safe = _INSIDE.sub(r"\1'", value)
    return f"'{safe}" if _FORMULA.match(value) else safe


def unescape_formula(text: str) -> str:
    """Return the text that `escape_formula` was given."""
    if "'" not in text:
        return text
    meant = _ESCAPED_INSIDE.sub(r"\1", text)
    is_escaped = meant.startswith("'") and _FORMULA.match(meant)
    return meant[1:] if is_escaped and not _NUMBER.fullmatch(meant[1:]) else meant


def _is_plain(text: str) -> bool:
    """Return whether a text needs no closer look; nearly all do not."""
    return text[0] in _PLAIN and ";" not in text and text.isprintable()


def encode_csv(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return rows as CSV (RFC 4180), their cells unchanged."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def encode_escaped_csv(rows: Iterable[Iterable[str]]) -> bytes:
    """Encode rows as CSV, with formulas escaped."""
    return encode_csv([escape_formula(cell) for cell in row] for row in rows)


def decode_escaped_csv(text: str) -> list[list[str]]:
    """Return the rows that `encode_escaped_csv` was given."""
    rows = csv.reader(io.StringIO(text, newline=""))
    return [[*map(unescape_formula, row)] for row in rows]
