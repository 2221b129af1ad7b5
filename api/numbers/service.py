"""Operations on numbers of the messaging platform."""

from typing import Self

import msgspec
from msgspec import Struct

from api.common.errors import NotFound
from api.db.row_quota import RowQuota
from api.engine_client import EngineClient, id_in_path
from api.http.paging import Page
from api.http.services import CommonServices
from api.numbers import schemas
from api.numbers.store import NumberStore, number_limit
from wire.decoding.errors import BadInput
from wire.phone_numbers.e164 import e164, normalized
from wire.phone_numbers.written_number import InvalidNumber, is_plain


class MessageFlows(Struct, frozen=True):
    """Checks the flow of a number: only flows of kind `message` are allowed (docs/flows.md)."""

    engine: EngineClient

    async def check(self, account_id: str, flow_id: str, path: str) -> None:
        """Check that the account has a message flow of this id; raises BadInput."""
        try:
            account, flow = id_in_path(account_id), id_in_path(flow_id)
            document = await self.engine.request_raw("GET", f"/documents/{account}/flow/{flow}")
        except NotFound:
            raise BadInput(path, f"no flow {flow_id}", "unknown_flow") from None
        if _kind(document) != "message":
            text = "only Message-type flows are allowed: a flow of kind message"
            raise BadInput(path, text, "not_a_message_flow")


class NumberService(Struct, frozen=True):
    numbers: NumberStore
    flows: MessageFlows
    quota: RowQuota

    @classmethod
    def build(cls, common: CommonServices) -> Self:
        database, now_ms = common.database, common.now_ms
        limit = number_limit(common.settings.max_documents)
        return cls(
            NumberStore(database, now_ms),
            MessageFlows(common.engine),
            RowQuota(database, now_ms, limit, interval_ms=0),
        )

    async def create(
        self, account_id: str, body: schemas.NewMessagingNumber
    ) -> schemas.MessagingNumber:
        columns = await self._columns(account_id, body)
        await self.quota.check(account_id)
        return schemas.number_view(await self.numbers.add(account_id, columns))

    async def list(self, account_id: str, page: Page) -> schemas.MessagingNumberPage:
        rows, total = await self.numbers.page(account_id, page)
        return schemas.MessagingNumberPage(
            tuple(map(schemas.number_view, rows)), total, page.limit, page.offset
        )

    async def change(
        self, account_id: str, number_id: str, body: schemas.MessagingNumberChange
    ) -> schemas.MessagingNumber:
        """Change a number; return the new state."""
        await self.numbers.get(account_id, number_id)
        columns = await self._columns(account_id, body)
        if columns:
            await self.numbers.change(account_id, number_id, columns)
        return schemas.number_view(await self.numbers.get(account_id, number_id))

    async def delete(self, account_id: str, number_id: str) -> schemas.DeletionResult:
        await self.numbers.delete(account_id, number_id)
        return schemas.DeletionResult(number_id)

    async def _columns(
        self, account_id: str, body: schemas.NewMessagingNumber | schemas.MessagingNumberChange
    ) -> dict[str, object]:
        columns = schemas.columns_of(body)
        phone, flow_id = columns.get("business_msgapp_number"), columns.get("flowbuilder_id")
        if isinstance(phone, str):
            columns["business_msgapp_number"] = international_or_as_given(
                phone, "businessMsgappNumber"
            )
        if isinstance(flow_id, str):
            await self.flows.check(account_id, flow_id, "flowbuilderId")
        return columns


class _FlowDocument(Struct, frozen=True):
    kind: str = "voice"


def _kind(document: bytes) -> str:
    try:
        return msgspec.json.decode(document, type=_FlowDocument).kind
    except msgspec.ValidationError:  # the document may be a URL instead of an object
        return _FlowDocument().kind


def international(text: str, path: str) -> str:
    """Convert a number to E.164; raises BadInput.

    As on the messaging platform, its plus sign is optional.
    """
    try:
        return e164(text if text.lstrip().startswith(("+", "00")) else f"+{text.strip()}", None)
    except InvalidNumber as error:
        message = f"{error}; expected a number such as +4721930000"
        raise BadInput(path, message, "impossible_number") from None


def international_or_as_given(text: str, path: str) -> str:
    """Convert a number to E.164, if it is valid; only the platform knows its short numbers.

    Raises BadInput for a text that is not a number.
    """
    try:
        return international(text, path)
    except BadInput:
        if not is_plain(digits := normalized(text)):
            raise
        return digits
