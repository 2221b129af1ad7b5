"""Option values: JSON, @file or a URL; raises UsageError with the position."""

import json
import sys
from pathlib import Path
from typing import Any

from engine.cli.errors import UsageError

_OF_ACTIONS = "JSON, @file or a URL, which begins with http:// or https://"


def action(text: str, name: str = "action") -> Any:
    """Parse an action: a URL, JSON, or `@file` with either."""
    content, source = _content(text, name)
    content = content.strip()
    if content.startswith(("http://", "https://")):
        return content
    return _parse_json(content, source, "" if text.startswith("@") else _OF_ACTIONS)


def mapping(text: str, name: str) -> dict[str, Any]:
    """Parse an object: JSON or `@file`."""
    content, source = _content(text, name)
    value = _parse_json(content, source, "" if text.startswith("@") else "JSON or @file")
    if not isinstance(value, dict):
        raise UsageError(f"{source}: expected a JSON object")
    return value


def document(path: Path | None) -> dict[str, Any]:
    """Read an object from a file; `-` is standard input; no path means an empty object."""
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
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UsageError(f"{text[1:]}: {reason}") from None


def _parse_json(content: str, name: str, expected: str) -> Any:
    """Parse JSON; `expected` says what may be given instead of a text that is no JSON at all."""
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        reason = f"{error.msg.removesuffix(' at')} at line {error.lineno}, column {error.colno}"
        hint = f"; expected {expected}" if expected and error.pos == 0 else ""
        raise UsageError(f"{name}: not JSON: {reason}{hint}") from None
