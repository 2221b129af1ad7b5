"""The columns of a table that may name a person: all with texts, but for known ones."""

from collections.abc import Mapping

import sqlalchemy as sa


def text_columns(
    table: sa.Table, without: Mapping[str, str]
) -> tuple[sa.ColumnElement[object], ...]:
    """Return a table's columns with texts; `without` has the reasons to leave some out."""
    texts = (each for each in table.c if isinstance(each.type, sa.String | sa.JSON))
    return tuple(each for each in texts if each.name not in without)
