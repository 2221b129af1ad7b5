"""Keeps SQLite from using an index for a column.

Without statistics, SQLite takes any index that fits. A unary plus excludes a column from its choice
(https://sqlite.org/optoverview.html, section 2.1). PostgreSQL has statistics, and chooses well.
"""

from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class NoIndex(FunctionElement[Any]):
    """`NoIndex(column)`: the column, never used for an index lookup in SQLite."""

    inherit_cache = True


@compiles(NoIndex)
def _plain(element: NoIndex, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


@compiles(NoIndex, "sqlite")
def _plus(element: NoIndex, compiler: SQLCompiler, **options: Any) -> str:
    return f"+{compiler.process(element.clauses, **options)}"
