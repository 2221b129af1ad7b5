"""Paged lists: limit and offset of a request."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Query
from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

MAX_LIMIT = 1_000
MAX_OFFSET = 2**53 - 1  # the largest integer that a JSON number holds exactly


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
