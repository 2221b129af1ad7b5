"""Parts of a page: tables, code, links, and the blocks that are generated in written pages."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

MAX_LINE = 96
_BLOCK = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a bar in a cell is escaped, and a line end becomes a space."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    return f"`{text}`"


def json_block(value: Any) -> str:
    """Return a value as a block of JSON: an object is on one line where it fits."""
    return f"```json\n{pretty(value)}\n```\n"


def pretty(value: Any, depth: int = 0) -> str:
    """Return JSON whose inner objects are on one line if they fit."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value:
        return line
    if depth and len(line) + 2 * depth < MAX_LINE:
        return line
    indent, end = "  " * (depth + 1), "  " * depth
    if isinstance(value, list):
        inner = [f"{indent}{pretty(each, depth + 1)}" for each in value]
        return "[\n" + ",\n".join(inner) + f"\n{end}]"
    pairs = [f"{indent}{json.dumps(key)}: {pretty(each, depth + 1)}" for key, each in value.items()]
    return "{\n" + ",\n".join(pairs) + f"\n{end}}}"


def page(title: str, source: str, *parts: str) -> str:
    """Return a generated page, whose parts are separated by empty lines."""
    note = f"<!-- `make docs` writes this page from {source}: edit that. -->"
    return "\n\n".join(each.strip("\n") for each in (f"# {title}", note, *parts) if each) + "\n"


def with_blocks(text: str, blocks: Mapping[str, Callable[[], str]]) -> str:
    """Return a written page with its generated blocks."""
    return _BLOCK.sub(lambda found: f"{found[1]}\n{blocks[found[2]]()}\n{found[3]}", text)


def block_names(text: str) -> list[str]:
    """Return the names of a page's generated blocks."""
    return [found[2] for found in _BLOCK.finditer(text)]
