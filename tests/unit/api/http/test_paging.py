"""Paged lists."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, ClassVar

import httpx2
import pytest
from fastapi import Depends, FastAPI, Response
from msgspec import Struct
from starlette.datastructures import URL

from api.http.msgspec_adapter import json_response
from api.http.paging import PIECE, Page, has_pages, in_pieces, link_to_next, paging
from api.http.problems import register_error_handlers

LIST = URL("http://api.example.com/srmain/things?limit=2&name=a%20b")


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    """Provide a client of a list of a hundred rows."""
    app = FastAPI()
    register_error_handlers(app)

    @app.get("/rows")
    async def rows(page: Annotated[Page, Depends(paging(default=10, max_limit=50))]) -> Response:
        shown = list(range(100))[page.offset :][: page.limit]
        return json_response(
            {"data": shown, "total": 100, "limit": page.limit, "offset": page.offset}
        )

    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app), base_url="http://api"
    ) as made:
        yield made


async def test_a_page_says_where_it_is(client: httpx2.AsyncClient) -> None:
    """With the total, and defaults."""
    assert (await client.get("/rows?offset=97")).json() == {
        "data": [97, 98, 99],
        "total": 100,
        "limit": 10,
        "offset": 97,
    }


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("limit=0", "limit"),
        ("limit=51", "limit"),
        ("limit=ten", "limit"),
        ("limit=1.5", "limit"),
        ("offset=-1", "offset"),
        ("offset=99999999999999999999", "offset"),
    ],
)
async def test_odd_pages_are_refused(client: httpx2.AsyncClient, query: str, path: str) -> None:
    """400 with the field's name."""
    answer = await client.get(f"/rows?{query}")
    assert answer.status_code == 400
    assert [each["path"] for each in answer.json()["errors"]] == [path]


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


async def test_others_have_their_turn_between_pieces() -> None:
    """The order stays; a page of few rows takes no turn more."""
    converted, seen = 0, list[int]()

    def convert(number: int) -> int:
        nonlocal converted
        converted += 1
        return -number

    async def watch() -> None:
        while True:
            seen.append(converted)
            await asyncio.sleep(0)

    watching = asyncio.create_task(watch())
    assert await in_pieces(convert, range(3 * PIECE)) == [-each for each in range(3 * PIECE)]
    watching.cancel()
    assert seen == [PIECE, 2 * PIECE]
    assert await in_pieces(convert, range(PIECE)) == [-each for each in range(PIECE)]
    assert await in_pieces(convert, []) == []
    assert seen == [PIECE, 2 * PIECE]
