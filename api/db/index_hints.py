"""A column that is looked at, but not looked up by: which index SQLite takes is ours to say.

SQLite keeps no statistics unless asked to, and then takes any index that fits. A unary plus takes
a column out of its choice (https://sqlite.org/optoverview.html, section 2.1). PostgreSQL knows how
many rows there are of each value, and chooses well by itself.
"""

from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class NoIndex(FunctionElement[Any]):
    """See above."""

    inherit_cache = True


@compiles(NoIndex)
def _plain(element: NoIndex, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


@compiles(NoIndex, "sqlite")
def _plus(element: NoIndex, compiler: SQLCompiler, **options: Any) -> str:
    return f"+{compiler.process(element.clauses, **options)}"
