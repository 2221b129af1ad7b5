"""Pages of call records, and how many there are, by the way that has the least to look at."""

from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.cdrs.query.access_paths import AccessPath, access_paths
from api.cdrs.query.filters import Filters
from api.cdrs.query.queries import Position, candidate_paths, count_query, measure_query, page_query

MEASURE_DIVISOR = 4  # a part of what is counted says enough about a way
OVERFLOW_FACTOR = 10  # so many times what was measured a way may be of which that was not the end


class CdrRow(Struct, frozen=True):
    """A call record as it is kept; `record` is a CallRecord in JSON."""

    id: int
    req_id: str
    started_ms: int
    disposition1: str | None
    disposition2: str | None
    disposition3: str | None
    record: bytes

    @property
    def position(self) -> Position:
        """Tell where in a list it is."""
        return self.started_ms, self.id


class Total(Struct, frozen=True):
    """How many there are; at least so many, where counting came to its limit."""

    count: int
    is_exact: bool


class Window(Struct, frozen=True):
    """Which part of a list: so many rows, after so many others or after a place."""

    limit: int
    offset: int = 0
    after: Position | None = None


async def cheapest(connection: AsyncConnection, filters: Filters, most_counted: int) -> str:
    """Tell which way has the least to look at; where all have much, which it has as a rule.

    Of an account that calls from one number, that number says nothing; of another it says all.
    """
    form = filters.shape
    found = candidate_paths(form)
    if len(found) == 1:
        return found[0]
    most = most_counted // MEASURE_DIVISOR
    (lengths,) = await connection.execute(measure_query(form, most), filters.parameters)
    length_of = dict(zip(found, lengths, strict=True))
    return min(found, key=lambda name: _cost(access_paths(form)[name], length_of[name], most))


def _cost(way: AccessPath, length: int, most: int) -> int:
    """Weigh a way; where its end was not reached, it may be far longer than was measured."""
    is_whole = length < most - len(way)  # each lookup's share of the limit was rounded down
    return (length if is_whole else OVERFLOW_FACTOR * most) * way[0].cost


async def read_page(
    connection: AsyncConnection, filters: Filters, way: str, part: Window
) -> list[CdrRow]:
    """Read a part of a list, the newest first."""
    most = part.limit + part.offset
    values = {**filters.parameters, "limit": part.limit, "offset": part.offset, "most": most}
    if part.after is not None:
        values["after_ms"], values["after_id"] = part.after
    query = page_query(filters.shape, way, is_after=part.after is not None)
    return [CdrRow(*row) for row in (await connection.execute(query, values)).all()]


async def count_matches(
    connection: AsyncConnection, filters: Filters, way: str, most_counted: int
) -> Total:
    """Count what a list has in all, within a limit of work."""
    query, share = count_query(filters.shape, way, most_counted)
    wanted, *seen = (await connection.execute(query, filters.parameters)).one()
    return Total(wanted, max(seen) < share)
