"""Option values: JSON, @file or a URL; raises UsageError with the position.

A file's name without @ is read, too, where there is such a file. Files are UTF-8, or the UTF-16 or
UTF-32 that editors and shells of Windows write.
"""

import json
import sys
from pathlib import Path
from typing import Any

from cli.errors import UsageError

_OF_ACTIONS = "JSON, @file or a URL, which begins with http:// or https://"


def action(text: str, name: str = "action") -> Any:
    """Parse an action: a URL, JSON, or `@file` with either."""
    content, source = _content(text, name)
    content = content.strip()
    if content.startswith(("http://", "https://")):
        return content
    return _parse_json(content, source, _OF_ACTIONS if source == name else "")


def mapping(text: str, name: str) -> dict[str, Any]:
    """Parse an object: JSON or `@file`."""
    content, source = _content(text, name)
    value = _parse_json(content, source, "JSON or @file" if source == name else "")
    if not isinstance(value, dict):
        raise UsageError(f"{source}: expected a JSON object")
    return value


def document(text: str | None) -> dict[str, Any]:
    """Parse an object: JSON, a file with or without @, or - for standard input; None: empty."""
    if text is None:
        return {}
    return mapping(text if text.lstrip().startswith(("{", "@")) else f"@{text}", "body")


def _content(text: str, name: str) -> tuple[str, str]:
    if not text.startswith("@") and not _is_file(text):
        return text, name
    is_piped = text == "@-"
    source = "standard input" if is_piped else text.removeprefix("@")
    try:
        content = sys.stdin.buffer.read() if is_piped else Path(source).read_bytes()
        return content.decode(json.detect_encoding(content)), source
    except OSError as error:
        raise UsageError(f"{source}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{source}: not {error.encoding.upper()}") from None


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # too long for a name
        return False


def _parse_json(content: str, name: str, expected: str) -> Any:
    """Parse JSON; `expected` says what may be given instead of a text that is no JSON at all."""
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        reason = f"{error.msg.removesuffix(' at')} at line {error.lineno}, column {error.colno}"
        hint = f"; expected {expected}" if expected and error.pos == 0 else ""
        raise UsageError(f"{name}: not JSON: {reason}{hint}") from None
