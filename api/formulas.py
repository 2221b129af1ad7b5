"""Text of customers in a file for spreadsheets: none of it is taken for a formula."""

import re
from typing import Any

# What a spreadsheet takes for the beginning of a formula (OWASP, "CSV Injection").
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"\+?[0-9]{1,20}")


def neutralised(value: Any) -> Any:
    """Put an apostrophe before what would be a formula; a phone number is none."""
    if isinstance(value, str) and value.startswith(_FORMULA) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value
