"""Ends a page of a list after some megabytes, where rows may be large.

The database adds up the sizes of the rows before it reads any of them: a row that is not in the
page costs no memory here. A page has at least one row, and the next page begins after its last
one, by the cursor or by the offset and the number of its rows: so a page that ends early loses
none.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import sqlalchemy as sa

from base.limit import Limit

MAX_PAGE_BYTES: Annotated[
    int,
    Limit(
        "request",
        "the page ends, and its link leads to the next one",
        "Bytes of the rows of a page, beside those of its last row.",
    ),
] = 4 << 20


def sized_page(
    page: sa.Subquery, rows: sa.FromClause, size: sa.ColumnElement[int], order: Sequence[Any]
) -> sa.Subquery:
    """Return the entries of a page, with how many there are as `page_rows`.

    `rows` joins the entries with what they are the entries of, and `size` is the size of such a
    row; `order` is that of the page. The condition `fits_page` selects those that are in the page.
    """
    before = sa.func.coalesce(sa.func.sum(size).over(order_by=order, rows=(None, -1)), 0)
    return (
        sa.select(*page.c, before.label("bytes_before"), sa.func.count().over().label("page_rows"))
        .select_from(rows)
        .subquery()
    )


def fits_page(sized: sa.Subquery) -> sa.ColumnElement[bool]:
    """Return the condition on the entries of `sized_page` that are in the page."""
    return sized.c.bytes_before < MAX_PAGE_BYTES


def text_size(*columns: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
    """Return the letters of columns with texts or JSON, together; of NULL none."""
    sizes = [sa.func.coalesce(sa.func.length(sa.cast(each, sa.Text)), 0) for each in columns]
    return sum(sizes[1:], sizes[0])
