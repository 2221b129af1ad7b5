"""The `crm` of a contact: its calls, from the call records."""

from collections.abc import Iterable

from api.cdrs import views
from api.cdrs.query.filters import Filters
from api.cdrs.store import CdrStore
from api.common.projection import project
from api.contacts.contacts.views import ContactCrmView, LastCall
from api.db.database import Database

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
        page, total = await self._cdrs.page_and_total(Filters(account_id, number=number), 1)
        if not page.rows:
            return ContactCrmView(0, calls_are_exact=True, last_call=None)
        last = project(LastCall, views.cdr_view(page.rows[0]))
        return ContactCrmView(max(total.count, 1 + page.has_more), total.is_exact, last)
