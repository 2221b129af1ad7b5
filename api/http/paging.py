"""Lists by the page: limit and offset in, the page and the total out."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from fastapi import Query
from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

MAX_LIMIT = 1_000
MAX_OFFSET = 2**53 - 1  # what a JSON number holds exactly


class Page(Struct, frozen=True):
    """Which rows are asked for."""

    limit: int
    offset: int


class Listed(Struct, frozen=True):
    """One page of a list, and how many rows there are in all."""

    data: Sequence[Any]
    total: int
    limit: int
    offset: int


def paging(default: int, most: int = MAX_LIMIT) -> Callable[[Any], Awaitable[Page]]:
    """Give the dependency that reads limit and offset, and refuses whatever else is asked."""

    class Rows(BaseModel):
        model_config = ConfigDict(extra="forbid", frozen=True)

        limit: int = Field(default, ge=1, le=most, description="Rows of a page.")
        offset: int = Field(0, ge=0, le=MAX_OFFSET, description="Rows to pass over.")

    async def page(rows: Annotated[Rows, Query()]) -> Page:
        return Page(rows.limit, rows.offset)

    return page
