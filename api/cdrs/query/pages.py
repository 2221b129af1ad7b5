"""Reads pages of call records, and counts them, by the cheapest access path."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.cdrs.query.access_paths import AccessPath, access_paths
from api.cdrs.query.filters import Filters
from api.cdrs.query.queries import Position, candidate_paths, count_query, measure_query, page_query
from wire.decoding.errors import BadInput

MEASURE_DIVISOR = 4  # measuring stops at this fraction of the count limit
OVERFLOW_FACTOR = 10  # estimated length, in limits, of a path that is longer than the limit
_POSITION = re.compile(rb"([0-9]{1,15})\.([0-9]{1,18})")


class CdrRow(Struct, frozen=True):
    """A stored call record; `record` is a CallRecord in JSON."""

    id: int
    req_id: str
    started_ms: int
    disposition1: str | None
    disposition2: str | None
    disposition3: str | None
    record: bytes

    @property
    def position(self) -> Position:
        """The position in a list."""
        return self.started_ms, self.id


class CdrRows(Struct, frozen=True):
    """Rows of a list, and whether there are more after them."""

    rows: list[CdrRow]
    has_more: bool


class Total(Struct, frozen=True):
    """The number of matches; a lower bound unless it is exact."""

    count: int
    is_exact: bool


class Window(Struct, frozen=True):
    """A window of a list: a number of rows, after an offset or after a position."""

    limit: int
    offset: int = 0
    after: Position | None = None


async def cheapest(connection: AsyncConnection, filters: Filters, max_counted: int) -> str:
    """Return the name of the cheapest access path; if all are long, the usual one.

    The lengths are measured: a number that matches all calls of one account is rare in another.
    """
    shape = filters.shape
    candidates = candidate_paths(shape)
    if len(candidates) == 1:
        return candidates[0]
    limit = max_counted // MEASURE_DIVISOR
    (lengths,) = await connection.execute(measure_query(shape, limit), filters.parameters)
    length_of = dict(zip(candidates, lengths, strict=True))
    return min(
        candidates, key=lambda name: _cost(access_paths(shape)[name], length_of[name], limit)
    )


def _cost(path: AccessPath, length: int, limit: int) -> int:
    """Return the cost of a path; a path longer than the limit may be much longer."""
    is_whole = length < limit - len(path)  # the share of each scan was rounded down
    return (length if is_whole else OVERFLOW_FACTOR * limit) * path[0].cost


async def read_page(
    connection: AsyncConnection, filters: Filters, path: str, window: Window
) -> CdrRows:
    """Read a window of a list, newest first; it ends after some megabytes."""
    limit = window.limit + 1  # whether there are more
    values = {
        **filters.parameters,
        "limit": limit,
        "offset": window.offset,
        "window_end": limit + window.offset,
    }
    if window.after is not None:
        values["after_ms"], values["after_id"] = window.after
    query = page_query(filters.shape, path, is_after=window.after is not None)
    found = (await connection.execute(query, values)).all()
    rows = [CdrRow(*row) for *row, _page_rows in found[: window.limit]]
    return CdrRows(rows, has_more=bool(found) and found[0].page_rows > len(rows))


async def count_matches(
    connection: AsyncConnection, filters: Filters, path: str, max_counted: int
) -> Total:
    """Count the matches, within a limit of work."""
    query, share = count_query(filters.shape, path, max_counted)
    count, *scanned = (await connection.execute(query, filters.parameters)).one()
    return Total(count, max(scanned) < share)


def encode_cursor(position: Position) -> str:
    return urlsafe_b64encode(b"%d.%d" % position).rstrip(b"=").decode()


def decode_cursor(text: str) -> Position:
    """Return the position in a cursor; raises BadInput."""
    try:
        found = _POSITION.fullmatch(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError:
        found = None
    if found is None:
        raise BadInput("cursor", "expected the nextCursor of a page")
    return int(found[1]), int(found[2])
