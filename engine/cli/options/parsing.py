"""What people type, as values: JSON, JSON in a file, an address; raises BadUse with the place."""

import json
import sys
from pathlib import Path
from typing import Any

from engine.cli.errors import UsageError


def action(text: str, name: str = "action") -> Any:
    """Take an action: an address, JSON, or `@file` with either."""
    content, place = _content(text, name)
    content = content.strip()
    return content if content.startswith(("http://", "https://")) else _parsed(content, place)


def mapping(text: str, name: str) -> dict[str, Any]:
    """Take an object: JSON, or `@file` with it."""
    content, place = _content(text, name)
    value = _parsed(content, place)
    if not isinstance(value, dict):
        raise UsageError(f"{place}: a JSON object is expected")
    return value


def document(path: Path | None) -> dict[str, Any]:
    """Read an object from a file; `-` is standard input; without a path it is empty."""
    if path is None:
        return {}
    return mapping("@-" if str(path) == "-" else f"@{path}", "body")


def _content(text: str, name: str) -> tuple[str, str]:
    if not text.startswith("@"):
        return text, name
    if text == "@-":
        return sys.stdin.read(), "standard input"
    try:
        return Path(text[1:]).read_text(), text[1:]
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UsageError(f"{text[1:]}: {why}") from None


def _parsed(content: str, name: str) -> Any:
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise UsageError(f"{name}: not JSON: {error.msg} at {where}") from None
