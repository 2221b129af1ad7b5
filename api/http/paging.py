"""Paged lists: limit and offset of a request, the link to the next page, rows in pieces."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl, urlencode

from fastapi import Query
from msgspec import Struct
from msgspec.structs import fields
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import URL

MAX_LIMIT = 1_000
MAX_OFFSET = 2**53 - 1  # the largest integer that a JSON number holds exactly
PIECE = 50  # rows, of up to 100 µs each
T = TypeVar("T")
V = TypeVar("V")


class Page(Struct, frozen=True):
    """The rows that a request selects."""

    limit: int
    offset: int


def paging(default: int, max_limit: int = MAX_LIMIT) -> Callable[[Any], Awaitable[Page]]:
    """Return the dependency that reads limit and offset; other query parameters are rejected."""

    class Rows(BaseModel):
        model_config = ConfigDict(extra="forbid", frozen=True)

        limit: int = Field(default, ge=1, le=max_limit, description="Rows of a page.")
        offset: int = Field(0, ge=0, le=MAX_OFFSET, description="Rows to skip.")

    async def page(rows: Annotated[Rows, Query()]) -> Page:
        return Page(rows.limit, rows.offset)

    return page


def has_pages(shape: Any) -> bool:
    """Whether a response is a page: it has rows, and a cursor or an offset."""
    names = {each.name for each in fields(shape)} if hasattr(shape, "__struct_fields__") else set()
    return "data" in names and not names.isdisjoint({"next_cursor", "offset"})


def link_to_next(url: URL, page: Any) -> str | None:
    """Return the header for the page after this one; None for the last page.

    It refers to the server's own path: which name clients use for the server, it does not know.
    """
    place = _place_of_next(page)
    if place is None:
        return None
    given = parse_qsl(url.query, keep_blank_values=True)
    kept = [each for each in given if each[0] not in {"cursor", "offset"}]
    if place[0] == "cursor" and any(name == "offset" for name, _ in given):
        kept.append(("offset", "0"))  # it counts from the cursor; some lists require it
    return f'<{url.path}?{urlencode([*kept, place])}>; rel="next"'


def _place_of_next(page: Any) -> tuple[str, str] | None:
    """Return the parameter of the next page: of a list that has both, the cursor."""
    if hasattr(page, "next_cursor"):
        return ("cursor", page.next_cursor) if page.next_cursor else None
    end = page.offset + len(page.data)
    has_more = end < page.total or not getattr(page, "total_is_exact", True)
    can_be_read = end <= getattr(page, "max_offset", end)
    return ("offset", str(end)) if page.data and has_more and can_be_read else None


async def in_pieces(convert: Callable[[T], V], values: Sequence[T]) -> list[V]:
    """Convert each value, in order."""
    found: list[V] = []
    for begin in range(0, len(values), PIECE):
        if begin:
            await asyncio.sleep(0)
        found += map(convert, values[begin : begin + PIECE])
    return found
