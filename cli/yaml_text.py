"""YAML as text: blocks of mappings and lists; texts that another reader may mistake are quoted."""

import json
import re
from collections.abc import Iterator
from typing import Any

# Letters first, then what no YAML reader takes for a mark; words that are values are quoted.
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./+@-]*(?: [A-Za-z0-9_./+@-]+)*")
_VALUES = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


def yaml_text(value: Any) -> str:
    """Return a JSON value as a YAML document."""
    return "\n".join(_lines(value)) + "\n"


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _entry(f"{_scalar(key)}:", item, indent="" if _is_list(item) else "  ")
    elif _is_list(value):
        for item in value:
            first, *rest = _lines(item)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield _scalar(value)


def _entry(name: str, item: Any, indent: str) -> Iterator[str]:
    if isinstance(item, (dict, list)) and item:
        yield name
        yield from (f"{indent}{line}" for line in _lines(item))
    else:
        yield f"{name} {_scalar(item)}"


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _VALUES:
        return value
    # JSON is YAML, but for characters that no reader must accept as they are.
    text = json.dumps(value, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in text)
