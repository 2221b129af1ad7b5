"""The table of all error codes, by group, and how a code is found in it."""

from collections.abc import Mapping

from wire.error_codes.error_code import CodeGroup, ErrorCode
from wire.error_codes.groups.calls import CALLS
from wire.error_codes.groups.capacity import CAPACITY
from wire.error_codes.groups.contacts import CONTACTS
from wire.error_codes.groups.dialing import DIALING
from wire.error_codes.groups.documents import DOCUMENTS
from wire.error_codes.groups.endings import ENDINGS
from wire.error_codes.groups.flows import FLOWS
from wire.error_codes.groups.installation import INSTALLATION
from wire.error_codes.groups.lab import LAB
from wire.error_codes.groups.media import MEDIA
from wire.error_codes.groups.nodes import NODES
from wire.error_codes.groups.requests import REQUESTS
from wire.error_codes.groups.rights import RIGHTS
from wire.error_codes.groups.streams import STREAMS
from wire.error_codes.groups.templates import TEMPLATES
from wire.error_codes.groups.transcripts import TRANSCRIPTS
from wire.error_codes.groups.webhooks import WEBHOOKS

GROUPS: tuple[CodeGroup, ...] = (
    REQUESTS, RIGHTS, CALLS, DIALING, CAPACITY, WEBHOOKS, MEDIA, ENDINGS, STREAMS, FLOWS,
    DOCUMENTS, CONTACTS, TRANSCRIPTS, TEMPLATES, INSTALLATION, LAB, NODES,
)  # fmt: skip
FAMILY_END = "_nnn"  # of a code that stands for all that begin alike, such as `status_404`
CATALOGUE: Mapping[str, ErrorCode] = {each.code: each for group in GROUPS for each in group.codes}
_FAMILIES = tuple(each for each in CATALOGUE if each.endswith(FAMILY_END))
# The codes of responses that a server sends by itself: no operation has read the request.
_OF_STATUS = {
    400: "invalid",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    412: "changed_meanwhile",
    413: "too_large",
    415: "unsupported_media_type",
    416: "range",
    417: "expectation_failed",
    429: "too_many",
    503: "unavailable",
}
_FIRST_SERVER_ERROR = 500


def find_code(code: str) -> ErrorCode | None:
    """Return the row of a code, or of the codes that begin like it; None: there is none."""
    if found := CATALOGUE.get(code):
        return found
    begins = (each for each in _FAMILIES if code.startswith(each.removesuffix(FAMILY_END) + "_"))
    return CATALOGUE.get(next(begins, ""))


def code_of_status(status: int) -> str:
    """Return the code of a response that a server sends by itself."""
    other = "request_rejected" if status < _FIRST_SERVER_ERROR else "internal"
    return _OF_STATUS.get(status, other)
