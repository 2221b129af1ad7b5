"""What can be done with numbers of the messaging platform."""

from msgspec import Struct

from api.http.paging import Page
from api.numbers.flows import MessageFlows
from api.numbers.phone import international
from api.numbers.schemas import (
    DeletedNumber,
    NewNumber,
    NumberChange,
    NumberPage,
    NumberView,
    columns_of,
    number_view,
)
from api.numbers.store import NumberStore
from wire.errors import BadInput


class NumberService(Struct, frozen=True):
    """One method a request, each about one account."""

    numbers: NumberStore
    flows: MessageFlows

    async def create(self, account_id: str, asked: NewNumber) -> NumberView:
        """Keep a number."""
        return number_view(
            await self.numbers.add(account_id, await self._checked(account_id, asked))
        )

    async def list(self, account_id: str, page: Page) -> NumberPage:
        """Give a page."""
        found, total = await self.numbers.listed(account_id, page)
        return NumberPage(tuple(map(number_view, found)), total, page.limit, page.offset)

    async def change(self, account_id: str, number_id: str, asked: NumberChange) -> NumberView:
        """Change a number, and show it."""
        await self.numbers.get(account_id, number_id)
        columns = await self._checked(account_id, asked)
        if not columns:
            raise BadInput("", "at least one field must be given")
        await self.numbers.change(account_id, number_id, columns)
        return number_view(await self.numbers.get(account_id, number_id))

    async def remove(self, account_id: str, number_id: str) -> DeletedNumber:
        """Take a number away."""
        await self.numbers.remove(account_id, number_id)
        return DeletedNumber(number_id)

    async def _checked(self, account_id: str, asked: NewNumber | NumberChange) -> dict[str, object]:
        columns = columns_of(asked)
        match columns:
            case {"business_msgapp_number": str(phone)}:
                columns["business_msgapp_number"] = international(phone, "businessMsgappNumber")
        match columns:
            case {"flowbuilder_id": str(flow_id)}:
                await self.flows.check(account_id, flow_id, "flowbuilderId")
        return columns
