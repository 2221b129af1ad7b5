"""Which contacts are looked up: filters as conditions of SQL.

One kind of filter is looked up, off an index in its order; the others are looked at. Names lie in
an index with each other, so asking for both looks at no row (docs/decisions/0023). Where few
contacts have what another filter wants, these are listed, off its own index, and no row is looked
at for it.
"""

from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace

from api.contacts.contacts.filters import Filters, Kind
from api.contacts.tables import contact_tags, contacts
from api.db.index_hints import NoIndex

Condition = sa.ColumnElement[bool]
Column = sa.Column[Any]
MAX_CODEPOINT = "\U0010ffff"  # no text that begins so comes after
_BY_NAME = {
    "f_name": (contacts.c.f_name_key, contacts.c.l_name_key),
    "l_name": (contacts.c.l_name_key, contacts.c.f_name_key),
}
_LAST = (contacts.c.list_id, contacts.c.id)


class IndexScan(Struct, frozen=True):
    """What is looked up, in which order, and what else must fit."""

    contact_id: Column
    order: tuple[Column, ...]
    conditions: tuple[Condition, ...]
    covered: tuple[Condition, ...] = ()  # what the same index has
    filtered: tuple[Condition, ...] = ()
    is_covered: bool = True  # what is beside is in an index, too
    is_whole: bool = False  # all of it is looked at, in any order

    def page(self, limit: int) -> sa.Select[Any]:
        """Select the first that are wanted: what they are ordered by, and their ids."""
        return self._places().where(*self.covered, *self.filtered).limit(limit)

    def matches(self, most: int) -> sa.Select[Any]:
        """Select the first that are looked up, and whether each is wanted."""
        rest = (*self.covered, *self.filtered)
        fits = sa.case((sa.and_(*rest), 1), else_=0) if rest else sa.literal(1)
        places = self._places(fits.label("fits")).limit(most)
        return places.order_by(None) if self.is_whole else places

    def sample(self, most: int) -> sa.Select[Any]:
        """Select so many of those that are looked up, to see how many there are."""
        return sa.select(self.contact_id).where(*self.conditions).limit(most)

    def ids(self) -> sa.Select[Any]:
        """Select the ids of all that are looked up, whatever is beside."""
        return sa.select(self.contact_id).where(*self.conditions, *self.covered).correlate(None)

    def _places(self, *more: sa.ColumnElement[Any]) -> sa.Select[Any]:
        order = [each.label(f"o{place}") for place, each in enumerate(self.order)]
        chosen = sa.select(*order, self.contact_id.label("id"), *more)
        if self.contact_id.table is not contacts and self.filtered:
            chosen = chosen.join(contacts, contacts.c.id == self.contact_id)
        return chosen.where(*self.conditions).order_by(*self.order)


def index_scans(filters: Filters) -> list[IndexScan]:
    """Choose what is looked up: that of which the fewest are known to be, or which tells most."""
    if filters.contact_id is not None:
        return [_plain(filters, contacts.c.id == filters.contact_id)]
    if filters.is_small:
        return [_of_small_list(filters)]
    kind = filters.by or next(iter(filters.kinds), None)
    return [_plain(filters)] if kind is None else index_scans_by(kind, filters)


def index_scans_by(kind: Kind, filters: Filters) -> list[IndexScan]:
    """Look up by one kind of filter; all others are beside."""
    others = [each for each in filters.kinds if each != kind]
    beside = tuple(
        _listed(filters, each) if each in filters.few else _looked_at(filters, each)
        for each in others
    )
    is_covered = set(others) <= set(filters.few)
    found = unfiltered_scans(kind, filters)
    return [replace(each, filtered=beside, is_covered=is_covered) for each in found]


def unfiltered_scans(kind: Kind, filters: Filters) -> list[IndexScan]:
    """Look up by one kind of filter, as if there were no other."""
    if kind == "tags":
        return [_by_tag(filters, tag) for tag in filters.tags]
    if kind == "numbers":
        number = contacts.c.phone_number
        return [_by_text(filters, (number,), each) for each in filters.numbers]
    if kind == "email":
        return [_by_text(filters, (contacts.c.email_key,), filters.email)]
    name, other = _names(filters)
    start = getattr(filters, other)
    also = _begins(NoIndex(_BY_NAME[name][1]), start) if start else ()
    return [_by_text(filters, _BY_NAME[name], getattr(filters, name), *also)]


def _by_text(
    filters: Filters, order: tuple[Column, ...], start: str, *also: Condition
) -> IndexScan:
    by = (_whose(filters), *_begins(order[0], start), *_not_hidden(filters))
    if filters.list_id is not None:
        also = (*also, NoIndex(contacts.c.list_id) == filters.list_id)
    return IndexScan(contacts.c.id, (*order, *_LAST), by, also)


def _by_tag(filters: Filters, tag: str) -> IndexScan:
    """Look up the contacts of a list by a tag; tags are asked for in lists alone."""
    contact_id, list_id = contact_tags.c.contact_id, contact_tags.c.list_id
    return IndexScan(
        contact_id, (contact_id,), (list_id == filters.list_id, contact_tags.c.tag_id == tag)
    )


def _plain(filters: Filters, *more: Condition) -> IndexScan:
    if filters.list_id is None:
        whose = (_whose(filters), *_not_hidden(filters))
    else:
        whose = (contacts.c.list_id == filters.list_id,)
    rest = tuple(_looked_at(filters, kind) for kind in filters.kinds)
    return IndexScan(
        contacts.c.id, (contacts.c.id,), (*whose, *more), filtered=rest, is_covered=False
    )


def _of_small_list(filters: Filters) -> IndexScan:
    """Look at each of its contacts, and put them in the order that the index would have had."""
    whose = (contacts.c.list_id == filters.list_id,)
    rest = tuple(_looked_at(filters, kind) for kind in filters.kinds)
    order = (*_small_order(filters), contacts.c.id)
    return IndexScan(contacts.c.id, order, whose, filtered=rest, is_whole=True)


def _small_order(filters: Filters) -> tuple[Column, ...]:
    if filters.f_name or filters.l_name:
        return _BY_NAME[_names(filters)[0]]
    return (contacts.c.phone_number,) if filters.numbers else ()


def _names(filters: Filters) -> tuple[str, str]:
    """Name that of which more is known, and the other."""
    names = ("f_name", "l_name")
    return names if len(filters.f_name) > len(filters.l_name) else (names[1], names[0])


def _listed(filters: Filters, kind: Kind) -> Condition:
    contact_id = NoIndex(contacts.c.id)
    return sa.or_(*(contact_id.in_(each.ids()) for each in unfiltered_scans(kind, filters)))


def _looked_at(filters: Filters, kind: Kind) -> Condition:
    """Give a kind's condition as one that chooses no index."""
    if kind == "numbers":
        number = NoIndex(contacts.c.phone_number)
        return sa.or_(*(sa.and_(*_begins(number, each)) for each in filters.numbers))
    if kind == "email":
        return sa.and_(*_begins(NoIndex(contacts.c.email_key), filters.email))
    if kind == "tags":
        mine = contact_tags.c.contact_id == contacts.c.id
        its = sa.select(contact_tags.c.contact_id).where(mine)
        # For each contact alone: PostgreSQL may read all tags that there are for an EXISTS.
        one = its.where(contact_tags.c.tag_id.in_(filters.tags)).limit(1).correlate(contacts)
        return one.scalar_subquery().is_not(None)
    names = {contacts.c.f_name_key: filters.f_name, contacts.c.l_name_key: filters.l_name}
    begun = (_begins(NoIndex(key), start) for key, start in names.items() if start)
    return sa.and_(*(each for pair in begun for each in pair))


def _whose(filters: Filters) -> Condition:
    return contacts.c.account_id == filters.account_id


def _not_hidden(filters: Filters) -> tuple[Condition, ...]:
    if not filters.hidden or filters.list_id is not None:
        return ()
    return (NoIndex(contacts.c.list_id).not_in(filters.hidden),)


def _begins(column: Any, start: str) -> tuple[Condition, ...]:
    return (column >= start, column < start + MAX_CODEPOINT)
