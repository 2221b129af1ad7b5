"""Columns: types that several slices use, those with texts, and those without an index lookup."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

Key = sa.BigInteger().with_variant(sa.Integer, "sqlite")  # SQLite numbers only INTEGER keys
Millis = sa.BigInteger


def Text(length: int) -> sa.types.TypeEngine[str]:  # noqa: N802 - used like a type of SQLAlchemy
    """Return a text type that is compared bytewise, so that prefixes are index ranges."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def text_columns(
    table: sa.Table, without: Mapping[str, str]
) -> tuple[sa.ColumnElement[object], ...]:
    """Return a table's columns with texts; `without` has the reasons to leave some out."""
    texts = (each for each in table.c if isinstance(each.type, sa.String | sa.JSON))
    return tuple(each for each in texts if each.name not in without)


class NoIndex(FunctionElement[Any]):
    """`NoIndex(column)`: the column, never used for an index lookup in SQLite.

    Without statistics, SQLite takes any index that fits. A unary plus excludes a column from its
    choice (https://sqlite.org/optoverview.html, section 2.1). PostgreSQL has statistics, and
    chooses well.
    """

    inherit_cache = True


@compiles(NoIndex)
def _plain(element: NoIndex, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


@compiles(NoIndex, "sqlite")
def _plus(element: NoIndex, compiler: SQLCompiler, **options: Any) -> str:
    return f"+{compiler.process(element.clauses, **options)}"
