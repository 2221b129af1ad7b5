"""Paged lists."""

from collections.abc import AsyncIterator
from typing import Annotated

import httpx2
import pytest
from fastapi import Depends, FastAPI, Response

from api.http.msgspec_adapter import json_response
from api.http.paging import Page, paging
from api.http.problems import register_error_handlers


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
