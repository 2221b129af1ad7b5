"""Ends a page of a list after some megabytes, where rows may be large.

The database adds up the sizes of the rows before it reads any of them, and keeps nothing but their
sizes meanwhile: a row that is not in the page costs no memory, here or in the database. A page has
at least one row, and the next page begins after its last one, by the cursor or by the offset and
the number of its rows: so a page that ends early loses none.
"""

from collections.abc import Callable, Sequence
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

Order = Callable[[sa.FromClause], Sequence[Any]]


def sized_page(
    page: sa.Subquery, rows: sa.FromClause, size: sa.ColumnElement[int], order: Order
) -> sa.Subquery:
    """Return the entries of a page, with how many there are as `page_rows`.

    `rows` joins the entries with what they are the entries of, and `size` is the size of such a
    row; `order` returns the order of the page, of its columns. The condition `fits_page` selects
    those that are in the page.
    """
    measured = sa.select(*page.c, size.label("size_bytes")).select_from(rows).cte()
    # Else SQLite puts whole rows into the temporary table of the windows, which is in memory.
    measured = measured.prefix_with("MATERIALIZED")
    running = sa.func.sum(measured.c.size_bytes).over(order_by=order(measured), rows=(None, -1))
    return sa.select(
        *(measured.c[each.key] for each in page.c),
        sa.func.coalesce(running, 0).label("bytes_before"),
        sa.func.count().over().label("page_rows"),
    ).subquery()


def fits_page(sized: sa.Subquery) -> sa.ColumnElement[bool]:
    """Return the condition on the entries of `sized_page` that are in the page."""
    return sized.c.bytes_before < MAX_PAGE_BYTES


def text_size(*columns: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
    """Return the letters of columns with texts or JSON, together; of NULL none."""
    sizes = [sa.func.coalesce(sa.func.length(sa.cast(each, sa.Text)), 0) for each in columns]
    return sum(sizes[1:], sizes[0])
