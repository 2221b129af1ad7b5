"""The filters of a contact search, and the index scans that find what matches them.

One kind of filter is looked up in an index, in the index's order; the others are conditions on the
rows. The two names share an index, so a search for both reads no row (docs/decisions/0018). If few
contacts match another filter, their ids come from its own index, and no row is read for it.
"""

from typing import Any, Literal

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace

from api.contacts.tables import contact_tags, contacts
from api.db.columns import NoIndex

Kind = Literal["numbers", "email", "name", "tags"]
COUNTRY_CHARS = 3  # of a number, such as +47: hardly selective
Condition = sa.ColumnElement[bool]
Column = sa.Column[Any]
MAX_CODEPOINT = "\U0010ffff"  # texts with a prefix are less than the prefix and this
_NAME_INDEX = {
    "f_name": (contacts.c.f_name_key, contacts.c.l_name_key),
    "l_name": (contacts.c.l_name_key, contacts.c.f_name_key),
}
_TIE_BREAKERS = (contacts.c.list_id, contacts.c.id)


class Filters(Struct, frozen=True):
    """The filters of a search; a contact must match all of them, and the search plan.

    Names and the e-mail address are prefixes of search keys. `numbers` are alternative prefixes, as
    a number may be given without its country code. Any of the tags matches.
    """

    account_id: str
    list_id: int | None = None
    f_name: str = ""
    l_name: str = ""
    email: str = ""
    numbers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    contact_id: int | None = None
    deleted_lists: tuple[int, ...] = ()  # that still have contacts
    is_small: bool = False  # of the list: it is read whole
    by: Kind | None = None  # the kind with the fewest matches, if known
    few: tuple[Kind, ...] = ()  # kinds with so few matches that these are looked up by id

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that are set, the one with the longest text first."""
        lengths: dict[Kind, int] = {
            "numbers": min(map(len, self.numbers), default=0) - COUNTRY_CHARS,
            "email": len(self.email),
            "name": max(len(self.f_name), len(self.l_name)),
            "tags": 0,
        }
        values = (self.numbers, self.email, self.f_name or self.l_name, self.tags)
        kinds = [kind for kind, each in zip(lengths, values, strict=True) if each]
        return tuple(sorted(kinds, key=lambda kind: -lengths[kind]))

    @property
    def is_any(self) -> bool:
        """Whether all contacts of the account, or of the list, match."""
        return not self.kinds and self.contact_id is None


class IndexScan(Struct, frozen=True):
    """A scan of an index: its conditions and order, and the conditions on its rows."""

    contact_id: Column
    order: tuple[Column, ...]
    conditions: tuple[Condition, ...]
    covered: tuple[Condition, ...] = ()  # on columns of the same index
    filtered: tuple[Condition, ...] = ()  # on other columns
    is_covered: bool = True  # the filtered conditions use indexes, too
    is_whole: bool = False  # all rows are read, in any order

    def page(self, limit: int) -> sa.Select[Any]:
        """Select the first matching contacts: the columns of the order, and their ids."""
        return self._scan().where(*self.covered, *self.filtered).limit(limit)

    def matches(self, limit: int) -> sa.Select[Any]:
        """Select the first rows of the scan, and whether each matches (`fits`)."""
        conditions = (*self.covered, *self.filtered)
        fits = sa.case((sa.and_(*conditions), 1), else_=0) if conditions else sa.literal(1)
        scan = self._scan(fits.label("fits")).limit(limit)
        return scan.order_by(None) if self.is_whole else scan

    def sample(self, limit: int) -> sa.Select[Any]:
        """Select some rows of the scan, to estimate their number."""
        return sa.select(self.contact_id).where(*self.conditions).limit(limit)

    def ids(self) -> sa.Select[Any]:
        """Select the ids of all rows of the scan, without the filtered conditions."""
        return sa.select(self.contact_id).where(*self.conditions, *self.covered).correlate(None)

    def _scan(self, *more: sa.ColumnElement[Any]) -> sa.Select[Any]:
        order = [each.label(f"o{index}") for index, each in enumerate(self.order)]
        query = sa.select(*order, self.contact_id.label("id"), *more)
        if self.contact_id.table is not contacts and self.filtered:
            query = query.join(contacts, contacts.c.id == self.contact_id)
        return query.where(*self.conditions).order_by(*self.order)


def index_scans(filters: Filters) -> list[IndexScan]:
    """Choose the scans: of the filter with the fewest matches, or else of the most selective."""
    if filters.contact_id is not None:
        return [_unindexed_scan(filters, contacts.c.id == filters.contact_id)]
    if filters.is_small:
        return [_small_list_scan(filters)]
    kind = filters.by or next(iter(filters.kinds), None)
    return [_unindexed_scan(filters)] if kind is None else index_scans_by(kind, filters)


def index_scans_by(kind: Kind, filters: Filters) -> list[IndexScan]:
    """Return the scans by one kind of filter, with the others as conditions."""
    others = [each for each in filters.kinds if each != kind]
    filtered = tuple(
        _id_lookup(filters, each) if each in filters.few else _row_condition(filters, each)
        for each in others
    )
    is_covered = set(others) <= set(filters.few)
    scans = unfiltered_scans(kind, filters)
    return [replace(each, filtered=filtered, is_covered=is_covered) for each in scans]


def unfiltered_scans(kind: Kind, filters: Filters) -> list[IndexScan]:
    """Return the scans by one kind of filter, ignoring the others."""
    if kind == "tags":
        return [_tag_scan(filters, tag) for tag in filters.tags]
    if kind == "numbers":
        number = contacts.c.phone_number
        return [_prefix_scan(filters, (number,), each) for each in filters.numbers]
    if kind == "email":
        return [_prefix_scan(filters, (contacts.c.email_key,), filters.email)]
    name, other = _name_columns(filters)
    prefix = getattr(filters, other)
    covered = _has_prefix(NoIndex(_NAME_INDEX[name][1]), prefix) if prefix else ()
    return [_prefix_scan(filters, _NAME_INDEX[name], getattr(filters, name), *covered)]


def _prefix_scan(
    filters: Filters, order: tuple[Column, ...], prefix: str, *covered: Condition
) -> IndexScan:
    conditions = (_in_account(filters), *_has_prefix(order[0], prefix), *_not_deleted(filters))
    if filters.list_id is not None:
        covered = (*covered, NoIndex(contacts.c.list_id) == filters.list_id)
    return IndexScan(contacts.c.id, (*order, *_TIE_BREAKERS), conditions, covered)


def _tag_scan(filters: Filters, tag: str) -> IndexScan:
    """Scan the contacts of a list by a tag; only searches in a list filter by tags."""
    contact_id, list_id = contact_tags.c.contact_id, contact_tags.c.list_id
    return IndexScan(
        contact_id, (contact_id,), (list_id == filters.list_id, contact_tags.c.tag_id == tag)
    )


def _unindexed_scan(filters: Filters, *more: Condition) -> IndexScan:
    if filters.list_id is None:
        owner = (_in_account(filters), *_not_deleted(filters))
    else:
        owner = (contacts.c.list_id == filters.list_id,)
    filtered = tuple(_row_condition(filters, kind) for kind in filters.kinds)
    return IndexScan(
        contacts.c.id, (contacts.c.id,), (*owner, *more), filtered=filtered, is_covered=False
    )


def _small_list_scan(filters: Filters) -> IndexScan:
    """Read all contacts of the list, and sort them as the index would."""
    owner = (contacts.c.list_id == filters.list_id,)
    filtered = tuple(_row_condition(filters, kind) for kind in filters.kinds)
    order = (*_small_order(filters), contacts.c.id)
    return IndexScan(contacts.c.id, order, owner, filtered=filtered, is_whole=True)


def _small_order(filters: Filters) -> tuple[Column, ...]:
    if filters.f_name or filters.l_name:
        return _NAME_INDEX[_name_columns(filters)[0]]
    return (contacts.c.phone_number,) if filters.numbers else ()


def _name_columns(filters: Filters) -> tuple[str, str]:
    """Return the name with the longer prefix, and the other."""
    names = ("f_name", "l_name")
    return names if len(filters.f_name) > len(filters.l_name) else (names[1], names[0])


def _id_lookup(filters: Filters, kind: Kind) -> Condition:
    contact_id = NoIndex(contacts.c.id)
    return sa.or_(*(contact_id.in_(each.ids()) for each in unfiltered_scans(kind, filters)))


def _row_condition(filters: Filters, kind: Kind) -> Condition:
    """Return a kind's condition in a form that uses no index."""
    if kind == "numbers":
        number = NoIndex(contacts.c.phone_number)
        return sa.or_(*(sa.and_(*_has_prefix(number, each)) for each in filters.numbers))
    if kind == "email":
        return sa.and_(*_has_prefix(NoIndex(contacts.c.email_key), filters.email))
    if kind == "tags":
        own = contact_tags.c.contact_id == contacts.c.id
        tags = sa.select(contact_tags.c.contact_id).where(own)
        # A scalar subquery runs for each contact; for an EXISTS, PostgreSQL may read all tags.
        first = tags.where(contact_tags.c.tag_id.in_(filters.tags)).limit(1).correlate(contacts)
        return first.scalar_subquery().is_not(None)
    names = {contacts.c.f_name_key: filters.f_name, contacts.c.l_name_key: filters.l_name}
    bounds = (_has_prefix(NoIndex(key), prefix) for key, prefix in names.items() if prefix)
    return sa.and_(*(each for pair in bounds for each in pair))


def _in_account(filters: Filters) -> Condition:
    return contacts.c.account_id == filters.account_id


def _not_deleted(filters: Filters) -> tuple[Condition, ...]:
    if not filters.deleted_lists or filters.list_id is not None:
        return ()
    return (NoIndex(contacts.c.list_id).not_in(filters.deleted_lists),)


def _has_prefix(column: Any, prefix: str) -> tuple[Condition, ...]:
    return (column >= prefix, column < prefix + MAX_CODEPOINT)
