"""The table of all error codes, read from the files of `groups`, and how a code is found in it."""

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct, convert


class Place(StrEnum):
    """Where a code appears."""

    REST = "a problem of the REST API"
    RPC = "a problem of the engine's RPC"
    FIELD = "`errors[].code` of a problem"
    TIMELINE = "the timeline of a call"
    RECORD = "`reason` of a call, a leg or a call record"
    STREAM = "`reason` of a stream: its result, its events, its record"
    WEBHOOK = "the webhook log, and the call's reason `action_failed`"
    CALLBACK = "the webhook log, and the reason of a dead letter"
    MEDIA = "`mediaFault.reason` of a webhook request, and the event `media-failed`"
    API_REQUEST = "`answers.NODE.reason` of a flow"
    JOB = "the error of a background job"
    METRIC = "the label `reason` of a metric"
    NODE = "`unavailableReason` of a PBX node"
    DOCTOR = "`switchroom doctor`"
    CLI = "a message of the command line"


class ErrorCode(Struct, frozen=True, forbid_unknown_fields=True):
    """One row: what the code means, what causes it, and what to do.

    A code that ends in `_nnn` stands for all codes that begin alike. `cause` is empty if `meaning`
    says it. `see` is a part of another page in docs, such as `troubleshooting.md#store`.
    """

    code: str
    title: str
    meaning: str
    cause: str
    action: str
    statuses: tuple[int, ...] = ()
    places: tuple[Place, ...] = ()
    see: str = ""


class CodeGroup(Struct, frozen=True):
    """Codes about one subject."""

    title: str
    codes: tuple[ErrorCode, ...]


def _read(name: str) -> CodeGroup:
    """Read a group: its title, what its codes have unless they say otherwise, and its codes."""
    path = Path(__file__).with_name("groups") / f"{name}.toml"
    group = tomllib.loads(path.read_text(encoding="utf-8"))
    defaults = {"cause": "", "places": []} | group.get("defaults", {})
    rows = [{"code": code} | defaults | row for code, row in group["codes"].items()]
    for row in rows:
        row["places"] = [Place[each.upper()] for each in row["places"]]
    return CodeGroup(group["title"], convert(rows, tuple[ErrorCode, ...]))


_FILES = (
    "requests", "rights", "calls", "dialing", "capacity", "webhooks", "media", "endings",
    "streams", "flows", "documents", "contacts", "transcripts", "templates", "installation",
    "lab", "nodes",
)  # fmt: skip
GROUPS: tuple[CodeGroup, ...] = tuple(map(_read, _FILES))
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
