"""Filters as SQL: pages of calls, and how many there are.

A page is read off an index from its beginning, until it is full; what is counted has a limit.
Making a statement costs more than running it, so each is made once for a form of filters; what is
asked for comes as parameters.
"""

from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from api.cdrs.filters import Filters
from api.cdrs.lookups import lookups
from api.cdrs.tables import bodies, cdrs

Place = tuple[int, int]  # in a list: when a call began, and its id
LOOKED_AT = 4  # so much dearer is a row that is looked at than one that is only looked up
FORMS = 1_000  # whose statements are kept
_SHOWN = (
    cdrs.c.id,
    cdrs.c.req_id,
    cdrs.c.started_ms,
    cdrs.c.disposition1,
    cdrs.c.disposition2,
    cdrs.c.disposition3,
    bodies.c.record,
)


@lru_cache(FORMS)
def listing(form: Filters, *, is_after: bool) -> sa.Select[Any]:
    """Select the rows of a page, newest first.

    Parameters are the filters' values, `limit`, `offset`, `most` (both together), and where it is
    after a place, `after_ms` and `after_id`.
    """
    found = _page(form, is_after=is_after).subquery()
    return (
        sa.select(*_SHOWN)
        .join_from(found, cdrs, cdrs.c.id == found.c.id)
        .join(bodies, bodies.c.cdr_id == cdrs.c.id)
        .order_by(found.c.started_ms.desc(), found.c.id.desc())
    )


@lru_cache(FORMS)
def counting(form: Filters, most: int) -> tuple[sa.Select[Any], int]:
    """Count the wanted among the first that are looked up, `most` in all lookups together.

    Selects how many are wanted, and how many each lookup found, of at most as many as returned.
    """
    looked = lookups(form)
    share = max(1, (most // LOOKED_AT if looked[0].beside else most) // len(looked))
    parts = [lookup.fitting(share).subquery() for lookup in looked]
    return _alone(*parts) if len(parts) == 1 else _together(parts), share


def _page(form: Filters, *, is_after: bool) -> sa.Select[Any]:
    parts = [lookup.first(is_after=is_after) for lookup in lookups(form)]
    if len(parts) == 1:
        return _cut(parts[0])
    most = _number("most")
    merged = sa.union(*(sa.select(part.limit(most).subquery()) for part in parts)).subquery()
    chosen = sa.select(merged.c.started_ms, merged.c.id)
    return _cut(chosen.order_by(merged.c.started_ms.desc(), merged.c.id.desc()))


def _cut(chosen: sa.Select[Any]) -> sa.Select[Any]:
    return chosen.limit(_number("limit")).offset(_number("offset"))


def _number(name: str) -> sa.BindParameter[int]:
    return sa.bindparam(name, type_=sa.Integer)


def _alone(found: sa.Subquery) -> sa.Select[Any]:
    wanted = sa.func.count(sa.case((found.c.fits == 1, 1)))
    columns: list[Any] = [wanted, sa.func.count()]
    return sa.select(*columns).select_from(found)


def _together(parts: list[sa.Subquery]) -> sa.Select[Any]:
    """Count what several lookups found; a call that more than one has found counts once."""
    marked = (
        sa.select(sa.literal(place).label("part"), part.c.id, part.c.fits)
        for place, part in enumerate(parts)
    )
    found = sa.union_all(*marked).subquery()
    wanted = sa.func.count(sa.distinct(sa.case((found.c.fits == 1, found.c.id))))
    seen = (sa.func.count(sa.case((found.c.part == place, 1))) for place, _part in enumerate(parts))
    columns: list[Any] = [wanted, *seen]
    return sa.select(*columns).select_from(found)
