"""Operations on numbers of the messaging platform."""

from msgspec import Struct

from api.db.row_quota import RowQuota
from api.http.paging import Page
from api.numbers.flows import MessageFlows
from api.numbers.phone import international_or_as_given
from api.numbers.schemas import (
    DeletionResult,
    MessagingNumber,
    MessagingNumberChange,
    MessagingNumberPage,
    NewMessagingNumber,
    columns_of,
    number_view,
)
from api.numbers.store import NumberStore


class NumberService(Struct, frozen=True):
    numbers: NumberStore
    flows: MessageFlows
    quota: RowQuota

    async def create(self, account_id: str, body: NewMessagingNumber) -> MessagingNumber:
        columns = await self._columns(account_id, body)
        await self.quota.check(account_id)
        return number_view(await self.numbers.add(account_id, columns))

    async def list(self, account_id: str, page: Page) -> MessagingNumberPage:
        rows, total = await self.numbers.page(account_id, page)
        return MessagingNumberPage(tuple(map(number_view, rows)), total, page.limit, page.offset)

    async def change(
        self, account_id: str, number_id: str, body: MessagingNumberChange
    ) -> MessagingNumber:
        """Change a number; return the new state."""
        await self.numbers.get(account_id, number_id)
        columns = await self._columns(account_id, body)
        if columns:
            await self.numbers.change(account_id, number_id, columns)
        return number_view(await self.numbers.get(account_id, number_id))

    async def delete(self, account_id: str, number_id: str) -> DeletionResult:
        await self.numbers.delete(account_id, number_id)
        return DeletionResult(number_id)

    async def _columns(
        self, account_id: str, body: NewMessagingNumber | MessagingNumberChange
    ) -> dict[str, object]:
        columns = columns_of(body)
        phone, flow_id = columns.get("business_msgapp_number"), columns.get("flowbuilder_id")
        if isinstance(phone, str):
            columns["business_msgapp_number"] = international_or_as_given(
                phone, "businessMsgappNumber"
            )
        if isinstance(flow_id, str):
            await self.flows.check(account_id, flow_id, "flowbuilderId")
        return columns
