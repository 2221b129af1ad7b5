"""Filters as SQL: one is looked up by, off an index in its order; the others are looked at.

A page is read until it is full; what is counted has a limit (docs/decisions/0018, which is about
call records, says why). Names lie in an index with each other, so asking for both looks at no row.
"""

from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from api.beside import Beside
from api.contacts.people.filters import Filters
from api.contacts.tables import contact_tags, contacts

Condition = sa.ColumnElement[bool]
Column = sa.Column[Any]
BEYOND_ALL = "\U0010ffff"  # no text that begins so comes after
LOOKED_AT = 4  # so much dearer is a row that is looked at than one that is only looked up
TELLING = 7  # signs of a number: fewer contacts have it than one name
_BY_NAME = {
    "f_name": (contacts.c.f_name_key, contacts.c.l_name_key),
    "l_name": (contacts.c.l_name_key, contacts.c.f_name_key),
}
_LAST = (contacts.c.list_id, contacts.c.id)


class Lookup(Struct, frozen=True):
    """What is looked up, in which order, and what else must fit."""

    contact_id: Column
    order: tuple[Column, ...]
    by: tuple[Condition, ...]
    beside: tuple[Condition, ...] = ()
    is_covered: bool = False  # what must fit besides is in the index, too
    is_whole: bool = False  # all of it is looked at, in any order

    def first(self, limit: int) -> sa.Select[Any]:
        """Select the first that are wanted: what they are ordered by, and their ids."""
        return self._places().where(*self.beside).limit(limit)

    def fitting(self, most: int) -> sa.Select[Any]:
        """Select the first that are looked up, and whether each is wanted."""
        fits = sa.case((sa.and_(*self.beside), 1), else_=0) if self.beside else sa.literal(1)
        places = self._places(fits.label("fits")).limit(most)
        return places.order_by(None) if self.is_whole else places

    def _places(self, *more: sa.ColumnElement[Any]) -> sa.Select[Any]:
        order = [each.label(f"o{place}") for place, each in enumerate(self.order)]
        chosen = sa.select(*order, self.contact_id.label("id"), *more)
        if self.contact_id.table is not contacts and self.beside:
            chosen = chosen.join(contacts, contacts.c.id == self.contact_id)
        return chosen.where(*self.by).order_by(*self.order)


def page(filters: Filters, limit: int, offset: int) -> sa.Select[Any]:
    """Select the ids of a page, as `id`, in the order of `o0`, `o1` and so on."""
    found = lookups(filters)
    if len(found) == 1:
        return found[0].first(limit).offset(offset)
    merged = sa.union(*(sa.select(each.first(offset + limit).subquery()) for each in found))
    chosen = sa.select(merged.subquery())
    return chosen.order_by(*ordered(chosen.selected_columns)).limit(limit).offset(offset)


def ordered(columns: Any) -> list[Any]:
    """Give the columns that a page is ordered by."""
    return [each for each in columns if each.key != "id"]


def counted(filters: Filters, most: int) -> tuple[sa.Select[Any], int]:
    """Count the wanted among the first that are looked up, `most` in all lookups together.

    Selects how many are wanted, and how many the fullest lookup found, of at most as many as told.
    """
    found = lookups(filters)
    is_cheap = all(each.is_covered or not each.beside for each in found)
    share = max(1, (most if is_cheap else most // LOOKED_AT) // len(found))
    if len(found) == 1:  # none is found twice
        looked = found[0].fitting(share).subquery()
        fitting = sa.func.coalesce(sa.func.sum(looked.c.fits), 0)
        return sa.select(fitting, sa.func.count()).select_from(looked), share
    marked = []
    for place, each in enumerate(found):
        part = each.fitting(share).subquery()
        marked.append(sa.select(sa.literal(place).label("part"), part.c.id, part.c.fits))
    every = sa.union_all(*marked).subquery()
    wanted = sa.func.count(sa.distinct(sa.case((every.c.fits == 1, every.c.id))))
    seen = [sa.func.count(sa.case((every.c.part == place, 1))) for place in range(len(found))]
    columns: list[Any] = [wanted, *seen]
    return sa.select(*columns).select_from(every), share


def lookups(filters: Filters) -> list[Lookup]:
    """Choose what is looked up by: what few contacts share."""
    if filters.contact_id is not None:
        return [_plain(filters, contacts.c.id == filters.contact_id)]
    if filters.is_small:
        return [_of_small_list(filters)]
    if any(len(each) >= TELLING for each in filters.numbers):
        return _by_numbers(filters)
    if filters.email:
        return [_by_email(filters)]
    if filters.f_name or filters.l_name:
        return [_by_name(filters)]
    if filters.numbers:
        return _by_numbers(filters)
    if filters.tags:
        return _by_tags(filters)
    return [_plain(filters)]


def _plain(filters: Filters, *more: Condition) -> Lookup:
    if filters.list_id is None:
        whose = (contacts.c.account_id == filters.account_id, *_not_hidden(filters))
    else:
        whose = (contacts.c.list_id == filters.list_id,)
    rest = tuple(_looked_at(filters, "list").values())
    return Lookup(contacts.c.id, (contacts.c.id,), (*whose, *more), rest)


def _of_small_list(filters: Filters) -> Lookup:
    """Look at each of its contacts, and put them in the order that the index would have had."""
    whose = (contacts.c.list_id == filters.list_id,)
    rest = tuple(_looked_at(filters, "list").values())
    return Lookup(
        contacts.c.id,
        (*_order(filters), contacts.c.id),
        whose,
        rest,
        is_covered=True,
        is_whole=True,
    )


def _order(filters: Filters) -> tuple[Column, ...]:
    if filters.f_name or filters.l_name:
        return _BY_NAME[_telling_name(filters)]
    return (contacts.c.phone_number,) if filters.numbers else ()


def _by_numbers(filters: Filters) -> list[Lookup]:
    rest = _looked_at(filters, "numbers")
    is_covered = rest.keys() <= {"list"}
    found = []
    for number in filters.numbers:
        by = (_whose(filters), *_begins(contacts.c.phone_number, number), *_not_hidden(filters))
        order = (contacts.c.phone_number, *_LAST)
        found.append(Lookup(contacts.c.id, order, by, tuple(rest.values()), is_covered))
    return found


def _by_email(filters: Filters) -> Lookup:
    rest = _looked_at(filters, "email")
    by = (_whose(filters), *_begins(contacts.c.email_key, filters.email), *_not_hidden(filters))
    order = (contacts.c.email_key, *_LAST)
    return Lookup(contacts.c.id, order, by, tuple(rest.values()), rest.keys() <= {"list"})


def _by_name(filters: Filters) -> Lookup:
    name = _telling_name(filters)
    rest = _looked_at(filters, name)
    first, second = _BY_NAME[name]
    by = (_whose(filters), *_begins(first, getattr(filters, name)), *_not_hidden(filters))
    is_covered = rest.keys() <= {"list", *_BY_NAME}
    return Lookup(contacts.c.id, (first, second, *_LAST), by, tuple(rest.values()), is_covered)


def _telling_name(filters: Filters) -> str:
    """Name that of which more is known."""
    return "f_name" if len(filters.f_name) > len(filters.l_name) else "l_name"


def _by_tags(filters: Filters) -> list[Lookup]:
    """Look up the contacts of a list by each tag; tags are asked for in lists alone."""
    contact_id = contact_tags.c.contact_id
    return [
        Lookup(
            contact_id,
            (contact_id,),
            (contact_tags.c.list_id == filters.list_id, contact_tags.c.tag_id == tag),
        )
        for tag in filters.tags
    ]


def _looked_at(filters: Filters, taken: str) -> dict[str, Condition]:
    """Give the condition of each filter but one, none of which chooses an index."""
    found: dict[str, Condition] = {}
    if filters.list_id is not None:
        found["list"] = Beside(contacts.c.list_id) == filters.list_id
    for name, column in {
        "f_name": contacts.c.f_name_key,
        "l_name": contacts.c.l_name_key,
        "email": contacts.c.email_key,
    }.items():
        if start := getattr(filters, name):
            found[name] = sa.and_(*_begins(Beside(column), start))
    if filters.numbers:
        number = Beside(contacts.c.phone_number)
        found["numbers"] = sa.or_(*(sa.and_(*_begins(number, each)) for each in filters.numbers))
    if filters.tags:
        its = sa.select(contact_tags.c.contact_id).where(
            contact_tags.c.contact_id == contacts.c.id, contact_tags.c.tag_id.in_(filters.tags)
        )
        found["tags"] = its.exists()
    found.pop(taken, None)
    return found


def _whose(filters: Filters) -> Condition:
    return contacts.c.account_id == filters.account_id


def _not_hidden(filters: Filters) -> tuple[Condition, ...]:
    if not filters.hidden or filters.list_id is not None:
        return ()
    return (Beside(contacts.c.list_id).not_in(filters.hidden),)


def _begins(column: Any, start: str) -> tuple[Condition, ...]:
    return (column >= start, column < start + BEYOND_ALL)
