"""Contacts looked for: by the page, and one with all that is known of it."""

from msgspec.structs import replace

from api.accounts.cache import AccountCache
from api.common.errors import NotFound
from api.contacts.contacts.crm import Crm
from api.contacts.contacts.filters import Filters
from api.contacts.contacts.numbers import number_prefixes
from api.contacts.contacts.pages import Pages
from api.contacts.contacts.schemas import (
    AllContactsQuery,
    ListContactsQuery,
    PageQuery,
    ViewContactsQuery,
    is_yes,
)
from api.contacts.contacts.store import ContactStore
from api.contacts.contacts.views import ContactPage, ContactView, contact_view
from api.contacts.ids import read_id
from api.contacts.list_store import ListStore
from api.contacts.search_keys import normalize
from api.contacts.tags.schemas import split_tags
from wire.errors import BadInput

MAX_CRM_ROWS = 100  # rows of a page: each is looked up in call records


class ContactSearch:
    """One method a question, each about one account."""

    def __init__(
        self, pages: Pages, people: ContactStore, lists: ListStore, crm: Crm, known: AccountCache
    ) -> None:
        self._pages = pages
        self._contacts = people
        self._lists = lists
        self._crm = crm
        self._known = known

    async def in_list(self, account_id: str, list_id: str, asked: ListContactsQuery) -> ContactPage:
        """Give a page of a list's contacts, in the order in which they came."""
        found = await self._list(account_id, list_id)
        filters = Filters(account_id, found, tags=split_tags(asked.tags))
        return await self._page(filters, asked)

    async def everywhere(self, account_id: str, asked: AllContactsQuery) -> ContactPage:
        """Give a page of the account's contacts."""
        filters = Filters(
            account_id,
            f_name=normalize(asked.f_name),
            l_name=normalize(asked.l_name),
            email=normalize(asked.email),
            numbers=await self._numbers(account_id, "phNumber", asked.number),
        )
        return await self._page(filters, asked)

    async def viewed(self, account_id: str, list_id: str, asked: ViewContactsQuery) -> ContactPage:
        """Give a page of a list's contacts, with their calls if that is wanted."""
        with_crm = is_yes(asked.crm)
        if with_crm and asked.limit > MAX_CRM_ROWS:
            raise BadInput("limit", f"at most {MAX_CRM_ROWS} with crm")
        found = await self._list(account_id, list_id)
        filters = Filters(
            account_id,
            found,
            f_name=normalize(asked.f_name),
            l_name=normalize(asked.l_name),
            numbers=await self._numbers(account_id, "number", asked.number),
            tags=split_tags(asked.tags),
            contact_id=_wanted_id(asked.contact_id),
        )
        page = await self._page(filters, asked)
        return await self._with_crm(account_id, page) if with_crm else page

    async def one(self, account_id: str, contact_id: str) -> ContactView:
        """Give a contact with its list's name and its calls; raises NotFound."""
        contact = await self._contacts.get(account_id, read_id(contact_id, "contact"))
        if contact is None:
            raise NotFound("no contact of this id")
        its_list = await self._lists.get(account_id, contact.list_id)
        crm = await self._crm.of(account_id, [contact.phone_number])
        return replace(
            contact_view(contact), list_name=its_list.name, crm=crm[contact.phone_number]
        )

    async def _page(self, filters: Filters, asked: PageQuery) -> ContactPage:
        found = await self._pages.listed(filters, asked.limit, asked.offset)
        data = tuple(map(contact_view, found.contacts))
        return ContactPage(data, found.total, found.total_is_exact, asked.limit, asked.offset)

    async def _with_crm(self, account_id: str, page: ContactPage) -> ContactPage:
        crm = await self._crm.of(account_id, {each.phone_number for each in page.data})
        data = tuple(replace(each, crm=crm[each.phone_number]) for each in page.data)
        return replace(page, data=data)

    async def _list(self, account_id: str, list_id: str) -> int:
        return (await self._lists.get(account_id, read_id(list_id, "contact list"))).id

    async def _numbers(self, account_id: str, path: str, text: str) -> tuple[str, ...]:
        if not text:
            return ()
        region = (await self._known.get(account_id)).account.region
        return number_prefixes(path, text, region)


def _wanted_id(text: str) -> int | None:
    if not text:
        return None
    try:
        return read_id(text, "contact")
    except NotFound:
        return 0  # nobody's
