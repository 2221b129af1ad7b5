"""The `Link` header of pages: the next page, by cursor or by offset."""

from typing import ClassVar

import pytest
from msgspec import Struct
from starlette.datastructures import URL

from api.http.page_links import has_pages, link_to_next

LIST = URL("http://api.example.com/srmain/things?limit=2&name=a%20b")


class Rows(Struct):
    """A page by offset."""

    data: tuple[int, ...]
    total: int
    offset: int = 0
    total_is_exact: bool = True


class ShortRows(Rows):
    """Of a list whose offset has a limit."""

    max_offset: ClassVar[int] = 4


class Found(Struct):
    """A page by cursor."""

    data: tuple[int, ...]
    next_cursor: str | None = None


@pytest.mark.parametrize(
    ("page", "link"),
    [
        (Rows((1, 2), 5, 2), "</srmain/things?limit=2&name=a+b&offset=4>"),
        (Rows((1, 2), 2, total_is_exact=False), "</srmain/things?limit=2&name=a+b&offset=2>"),
        (ShortRows((1, 2), 9, 2), "</srmain/things?limit=2&name=a+b&offset=4>"),
        (Found((1, 2), "x/1="), "</srmain/things?limit=2&name=a+b&cursor=x%2F1%3D>"),
    ],
)
def test_the_next_page_keeps_the_filters(page: Struct, link: str) -> None:
    """Its address has all parameters of this page's, and the place where it begins."""
    assert link_to_next(LIST, page) == f'{link}; rel="next"'


def test_a_cursor_replaces_the_offset() -> None:
    """The offset counts from the cursor, which is that of the next page."""
    url = LIST.include_query_params(offset=4, cursor="old")
    assert link_to_next(url, Found((1,), "new")) == (
        '</srmain/things?limit=2&name=a+b&offset=0&cursor=new>; rel="next"'
    )


@pytest.mark.parametrize("page", [Rows((5,), 5, 4), Rows((), 5, 10), Rows((), 0), Found((1,))])
def test_the_last_page_has_none(page: Struct) -> None:
    """Nothing follows the last row, and nothing a place beyond it."""
    assert link_to_next(LIST, page) is None


def test_a_page_beyond_the_largest_offset_has_no_link() -> None:
    """A request for it would be rejected."""
    assert link_to_next(LIST, ShortRows((1, 2, 3), 9, 2)) is None


def test_only_pages_have_links() -> None:
    """A list without paging is no page, nor is anything else."""

    class All(Struct):
        data: tuple[int, ...]

    assert has_pages(Rows)
    assert has_pages(Found)
    assert not has_pages(All)
    assert not has_pages(None)
