"""Views of API requests."""

from msgspec import Struct

from api.common.timestamps import format_ms
from api.documents.document import Document, RequestSummary
from wire.decoding.messages import decode_message
from wire.request import ApiRequest, ApiRequestView


class ApiRequestSummary(Struct, frozen=True, rename="camel"):
    """An API request in a list; `version` is its ETag without quotes."""

    request_id: str
    name: str
    method: str
    url: str
    secrets: tuple[str, ...]
    version: int
    changed_time: str


class ApiRequestPage(Struct, frozen=True):
    """A page of API requests, ordered by id."""

    data: tuple[ApiRequestSummary, ...]
    total: int
    limit: int
    offset: int


def request_summary(document: Document) -> ApiRequestSummary:
    """Return the row of a document whose body is its summary."""
    found = decode_message(document.body, RequestSummary)
    return ApiRequestSummary(
        document.id,
        found.name,
        found.method,
        found.url,
        found.secrets,
        document.version,
        format_ms(document.changed_ms),
    )


def request_view(request_id: str, request: ApiRequest) -> ApiRequestView:
    """Return an API request with the names of its secrets."""
    fields = {
        name: getattr(request, name) for name in ApiRequest.__struct_fields__ if name != "secrets"
    }
    return ApiRequestView(**fields, request_id=request_id, secrets=tuple(sorted(request.secrets)))
