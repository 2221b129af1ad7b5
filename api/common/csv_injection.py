"""Text of customers in a file for spreadsheets: none of it is taken for a formula."""

import csv
import io
import re
import string
from collections.abc import Iterable, Sequence
from typing import Any

# What a spreadsheet takes for the beginning of a formula (OWASP, "CSV Injection"); the last four
# are full-width forms of the first.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NUMBER = re.compile(r"\+?[0-9]{1,20}")
_PLAIN = frozenset(string.ascii_letters + string.digits + "{")
# Where semicolons stand between cells, as in most of Europe, or tabs, a cell begins in the middle.
_INSIDE = re.compile(
    r"([;\t\r\n])(?!\s*\+?[0-9]{1,20}\s*(?:[;\t\r\n]|$))(?=[\s\"]*[=+\-@\uff1d\uff0b\uff0d\uff20])"
)


def escape_formula(value: Any) -> Any:
    """Put an apostrophe before what would be a formula; a phone number is none."""
    if not isinstance(value, str) or not value or _is_plain(value) or _NUMBER.fullmatch(value):
        return value
    safe = _INSIDE.sub(r"\1'", value)
    is_formula = value.startswith(_FORMULA) or value.lstrip().startswith(_FORMULA)
    return f"'{safe}" if is_formula else safe


def _is_plain(text: str) -> bool:
    """Tell quickly that a text neither begins as a formula nor is divided: nearly all are so."""
    return text[0] in _PLAIN and ";" not in text and text.isprintable()


def encode_csv(rows: Iterable[Sequence[Any]]) -> bytes:
    """Write rows as CSV (RFC 4180), their cells as they are given."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()
