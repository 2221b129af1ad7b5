"""Values that operators choose, in Asterisk's configuration files."""

# ruff: noqa: INP001 - beside a script, not a package

import re


def escaped(value: str) -> str:
    r"""Return a value with `\;` for `;`, which begins a comment: in passwords and SIP addresses."""
    return re.sub(r"(?<!\\);", r"\\;", value)
