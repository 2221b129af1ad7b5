"""Placeholders in a template's texts: `{{1}}`, `{{2}}`, … without gaps, or `{{names}}`."""

import re
from typing import Literal

from wire.decoding.errors import BadInput

Format = Literal["POSITIONAL", "NAMED"]
_ANY = re.compile(r"\{\{([^{}]*)\}\}")
_NUMBER = re.compile(r"[1-9][0-9]{0,2}")
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,63}")


def placeholders(text: str, style: Format, path: str) -> tuple[str, ...]:
    """Return a text's distinct placeholders: numbers in order, names in their order of appearance.

    Raises BadInput for an invalid placeholder, and for a gap.
    """
    names = tuple(dict.fromkeys(_ANY.findall(text)))
    rest = _ANY.sub("", text)
    if "{{" in rest or "}}" in rest:
        raise BadInput(
            path, "a placeholder that does not end, or does not begin", "bad_placeholder"
        )
    allowed, example = (_NUMBER, "{{1}}") if style == "POSITIONAL" else (_NAME, "{{order_number}}")
    for name in names:
        if not allowed.fullmatch(name):
            text = f"{{{{{name[:64]}}}}} is no placeholder of format {style}, such as {example}"
            raise BadInput(path, text, "bad_placeholder")
    return names if style == "NAMED" else _without_gaps(names, path)


def _without_gaps(names: tuple[str, ...], path: str) -> tuple[str, ...]:
    expected = tuple(str(number) for number in range(1, len(names) + 1))
    missing = next((number for number in expected if number not in names), None)
    if missing:
        text = f"placeholders are numbered from 1 without gaps: {{{{{missing}}}}} is missing"
        raise BadInput(path, text, "placeholder_gap")
    return expected


def substitute(text: str, values: dict[str, str]) -> str:
    """Replace placeholders by their values."""
    return _ANY.sub(lambda match: values[match[1]], text)
