"""Migrations: each lets processes of the version before it run on (docs/operations/upgrades.md)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

VERSIONS = Path(__file__).parents[3] / "api/db/migrations/versions"
REMOVALS = {
    "alter_column",
    "drop_column",
    "drop_constraint",
    "drop_table",
    "rename_table",
}
REASON = re.compile(r"^Contract: .+ since \d+\.\d+\.\d+\.?$", re.MULTILINE)
CASES = [
    ('"""A table."""\nop.create_table("a")\nop.add_column("b", c)', False),
    ('"""Drop a."""\nop.drop_column("a", "b")', True),
    ('"""Rename a."""\nwith op.batch_alter_table("a") as t:\n    t.alter_column("b")', True),
    ('"""Drop a.\n\nContract: `a.b` is unused since 1.2.0.\n"""\nop.drop_column("a", "b")', False),
]


def removes_without_reason(source: str) -> bool:
    """Whether a migration removes or changes what processes of an earlier version may use."""
    module = ast.parse(source)
    is_explained = REASON.search(ast.get_docstring(module) or "") is not None
    return not is_explained and bool(REMOVALS & set(_called(module)))


def _called(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr


def _upgrades() -> list[Path]:
    return sorted(VERSIONS.glob("[0-9]*.py"))


@pytest.mark.parametrize(("source", "expected"), CASES)
def test_the_rule(source: str, expected: bool) -> None:
    """A removal names the version since which nothing uses what it removes."""
    assert removes_without_reason(source) is expected


def test_later_migrations_only_add() -> None:
    """Or they say since which version nothing uses what they remove."""
    assert [each.name for each in _upgrades() if removes_without_reason(each.read_text())] == []


def test_there_are_no_downgrades() -> None:
    """A function that is never run would promise a way back that there is not."""
    assert not [each.name for each in VERSIONS.glob("*.py") if "def downgrade" in each.read_text()]
