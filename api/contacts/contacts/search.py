"""Searches contacts: by page, or one with all its details."""

import re
from collections.abc import Iterable
from contextlib import AsyncExitStack, suppress

from msgspec import Struct
from msgspec.structs import replace

from api.accounts.cache import AccountCache
from api.cdrs import views
from api.cdrs.query.filters import Filters as CallFilters
from api.cdrs.store import CdrStore
from api.common.account_concurrency import LimitedSlots
from api.common.errors import NotFound
from api.common.projection import project
from api.contacts.contacts.filters import Filters
from api.contacts.contacts.pages import Pages
from api.contacts.contacts.schemas import (
    AllContactsQuery,
    ListContactsQuery,
    PageQuery,
    ViewContactsQuery,
    parse_flag,
)
from api.contacts.contacts.store import ContactStore
from api.contacts.contacts.views import (
    ContactCrmView,
    ContactPage,
    ContactView,
    LastCall,
    contact_view,
)
from api.contacts.ids import parse_id
from api.contacts.list_store import ListStore
from api.contacts.search_keys import normalize
from api.contacts.tags import split_tags
from api.db.database import Database
from api.http.paging import in_pieces
from wire.decoding.errors import BadInput
from wire.decoding.texts import email_address
from wire.phone_numbers.e164 import beginnings, e164, normalized
from wire.phone_numbers.written_number import InvalidNumber

_NUMBER = re.compile(r"\+?[0-9]{1,20}", re.ASCII)
_SEPARATORS = re.compile(r"[\s().\-/~]")
MAX_CRM_ROWS = 100  # rows of a page: each is looked up in call records
MAX_COUNTED = 100  # calls with one number


class Crm:
    def __init__(self, database: Database) -> None:
        self._cdrs = CdrStore(database, MAX_COUNTED)

    async def by_number(
        self, account_id: str, phone_numbers: Iterable[str]
    ) -> dict[str, ContactCrmView]:
        """Return the number of calls and the last call of each phone number."""
        return {each: await self._get(account_id, each) for each in phone_numbers}

    async def _get(self, account_id: str, number: str) -> ContactCrmView:
        page, total = await self._cdrs.page_and_total(CallFilters(account_id, number=number), 1)
        if not page.rows:
            return ContactCrmView(0, calls_are_exact=True, last_call=None)
        last = project(LastCall, views.cdr_view(page.rows[0]))
        return ContactCrmView(max(total.count, 1 + page.has_more), total.is_exact, last)


class ContactSearch(Struct, frozen=True):
    pages: Pages
    contacts: ContactStore
    lists: ListStore
    crm: Crm
    accounts: AccountCache
    slots: LimitedSlots

    async def in_list(self, account_id: str, list_id: str, query: ListContactsQuery) -> ContactPage:
        """Return a page of a list's contacts, in the order in which they were added."""
        checked_id = await self._list_id(account_id, list_id)
        filters = Filters(account_id, checked_id, tags=split_tags(query.tags))
        return await self._page(filters, query)

    async def in_all_lists(self, account_id: str, query: AllContactsQuery) -> ContactPage:
        """Return a page of the account's contacts."""
        filters = Filters(
            account_id,
            f_name=normalize(query.f_name),
            l_name=normalize(query.l_name),
            email=normalize(email_address(query.email)),
            numbers=await self._numbers(account_id, "phNumber", query.number),
        )
        return await self._page(filters, query)

    async def view(self, account_id: str, list_id: str, query: ViewContactsQuery) -> ContactPage:
        """Return a page of a list's contacts, with their calls if `crm` is set."""
        with_crm = parse_flag(query.crm)
        if with_crm and query.limit > MAX_CRM_ROWS:
            raise BadInput("limit", f"at most {MAX_CRM_ROWS} with crm")
        checked_id = await self._list_id(account_id, list_id)
        filters = Filters(
            account_id,
            checked_id,
            f_name=normalize(query.f_name),
            l_name=normalize(query.l_name),
            numbers=await self._numbers(account_id, "number", query.number),
            tags=split_tags(query.tags),
            contact_id=_contact_id(query.contact_id),
        )
        page = await self._page(filters, query)
        return await self._with_crm(account_id, page) if with_crm else page

    async def get(self, account_id: str, contact_id: str) -> ContactView:
        """Return a contact with its list's name and its calls; raises NotFound."""
        contact = await self.contacts.get(account_id, parse_id(contact_id, "contact"))
        if contact is None:
            raise NotFound("no contact of this id")
        contact_list = await self.lists.get(account_id, contact.list_id)
        crm = await self.crm.by_number(account_id, [contact.phone_number])
        return replace(
            contact_view(contact), list_name=contact_list.name, crm=crm[contact.phone_number]
        )

    async def _page(self, filters: Filters, query: PageQuery) -> ContactPage:
        async with AsyncExitStack() as stack:
            if len(filters.kinds) > 1:
                await stack.enter_async_context(self.slots.slot(filters.account_id))
            matches = await self.pages.read(filters, query.limit, query.offset)
        data = tuple(await in_pieces(contact_view, matches.contacts))
        return ContactPage(data, matches.total, matches.total_is_exact, query.limit, query.offset)

    async def _with_crm(self, account_id: str, page: ContactPage) -> ContactPage:
        crm = await self.crm.by_number(account_id, {each.phone_number for each in page.data})
        data = tuple(replace(each, crm=crm[each.phone_number]) for each in page.data)
        return replace(page, data=data)

    async def _list_id(self, account_id: str, list_id: str) -> int:
        return (await self.lists.get(account_id, parse_id(list_id, "contact list"))).id

    async def _numbers(self, account_id: str, path: str, text: str) -> tuple[str, ...]:
        if not text:
            return ()
        region = (await self.accounts.get(account_id)).region
        return number_prefixes(path, text, region)


def _contact_id(text: str) -> int | None:
    if not text:
        return None
    try:
        return parse_id(text, "contact")
    except NotFound:
        return 0  # matches no contact


def number_prefixes(path: str, text: str, region: str | None) -> tuple[str, ...]:
    """Return the prefixes of E.164 numbers that match; raises BadInput.

    A whole number is read as lists read it, too: with prefixes of its region, or as a link.
    """
    plain = re.sub("^00", "+", _SEPARATORS.sub("", normalized(text)))
    prefixes = beginnings(plain, region) if _NUMBER.fullmatch(plain) else ()
    with suppress(InvalidNumber):
        prefixes += (e164(text, region),)
    if not prefixes:
        raise BadInput(path, "expected the beginning of a number, such as +4721")
    return tuple(dict.fromkeys(prefixes))
