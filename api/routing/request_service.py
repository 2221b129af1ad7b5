"""An account's API requests; their secrets are stored, and never shown."""

import re

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from api.documents.document import Document, Kind
from api.documents.editor import DocumentEditor
from api.engine_client import EngineClient, id_in_path
from api.http.paging import Page
from api.http.preconditions import Precondition
from api.routing.request_schemas import ApiRequestPage, request_summary
from wire.decoding.errors import BadInput
from wire.decoding.messages import decode_message
from wire.decoding.patterns import HEX_ID, PATTERNS
from wire.request import ApiRequest, kept_secrets

KIND: Kind = "request"


class ApiRequestService(Struct, frozen=True):
    documents: DocumentEditor
    engine: EngineClient

    async def list(self, account_id: str, page: Page) -> ApiRequestPage:
        found, total = await self.documents.page(account_id, KIND, page)
        return ApiRequestPage(tuple(map(request_summary, found)), total, page.limit, page.offset)

    async def get(self, account_id: str, request_id: str) -> Document:
        """Return an API request; raises NotFound."""
        return await self.documents.get(account_id, KIND, request_id.lower())

    async def put(
        self, account_id: str, request_id: str, given: ApiRequest, condition: Precondition
    ) -> Document:
        """Replace an API request; secrets that are left out are kept, but for another host.

        Raises PreconditionFailed.
        """
        if re.search(HEX_ID, request_id) is None:
            raise BadInput("id", f"expected {PATTERNS[HEX_ID]}")
        path = f"/requests/{id_in_path(account_id)}/{request_id}/check"

        async def replaced(before: Document | None) -> bytes:
            stored = kept_secrets(decode_request(before) if before else None, given.url)
            merged = {**stored, **given.secrets}
            secrets = {name: text for name, text in merged.items() if text}
            request = msgspec.json.encode(replace(given, secrets=secrets))
            await self.engine.request_raw("POST", path, msgspec.Raw(request))
            return request

        return await self.documents.change(
            account_id, KIND, request_id.lower(), replaced, condition
        )

    async def delete(self, account_id: str, request_id: str, condition: Precondition) -> None:
        """Delete an API request; a flow that sends it takes its failure branch."""
        request_id = request_id.lower()
        await self.documents.delete(account_id, KIND, request_id, condition.version)


def decode_request(document: Document) -> ApiRequest:
    return decode_message(document.body, ApiRequest)
