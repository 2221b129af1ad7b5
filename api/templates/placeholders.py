"""Placeholders in a template's texts: `{{1}}`, `{{2}}`, … without gaps, or `{{names}}`."""

import re
from typing import Literal

from wire.errors import BadInput

Format = Literal["POSITIONAL", "NAMED"]
_ANY = re.compile(r"\{\{([^{}]*)\}\}")
_NUMBER = re.compile(r"[1-9][0-9]{0,2}")
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,63}")


def placeholders(text: str, style: Format, path: str) -> tuple[str, ...]:
    """List a text's placeholders, each once: numbers in order, names as they come.

    Raises BadInput for what is none, and for a gap.
    """
    found = tuple(dict.fromkeys(_ANY.findall(text)))
    left = _ANY.sub("", text)
    if "{{" in left or "}}" in left:
        raise BadInput(
            path, "a placeholder that does not end, or does not begin", "bad_placeholder"
        )
    allowed, example = (_NUMBER, "{{1}}") if style == "POSITIONAL" else (_NAME, "{{order_number}}")
    for name in found:
        if not allowed.fullmatch(name):
            text = f"{{{{{name[:64]}}}}} is no placeholder of format {style}, such as {example}"
            raise BadInput(path, text, "bad_placeholder")
    return found if style == "NAMED" else _without_gaps(found, path)


def _without_gaps(found: tuple[str, ...], path: str) -> tuple[str, ...]:
    wanted = tuple(str(number) for number in range(1, len(found) + 1))
    missing = next((number for number in wanted if number not in found), None)
    if missing:
        text = f"placeholders are numbered from 1 without gaps: {{{{{missing}}}}} is missing"
        raise BadInput(path, text, "placeholder_gap")
    return wanted


def substitute(text: str, values: dict[str, str]) -> str:
    """Put values in the place of placeholders."""
    return _ANY.sub(lambda found: values[found[1]], text)
