r"""Patterns as they are published: without what only some regular expressions have.

Inside, a pattern ends in `$(?!\n)`, because Python's `$` accepts a trailing line feed. The `$` of
JSON Schema (ECMA 262), RE2 and Rust does not, and RE2 knows no lookahead: without the lookahead
the pattern means the same there.
"""

from typing import Any

from wire.decoding.patterns import END


def portable(schema: Any) -> Any:
    """Return a document with portable patterns."""
    match schema:
        case dict():
            return {name: _portable_field(name, each) for name, each in schema.items()}
        case list():
            return [portable(each) for each in schema]
        case _:
            return schema


def _portable_field(name: str, value: Any) -> Any:
    if name == "pattern" and isinstance(value, str) and value.endswith(END):
        return value.removesuffix(END) + "$"
    return portable(value)
