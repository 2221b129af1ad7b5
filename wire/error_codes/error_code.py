"""An error code, and a group of codes."""

from enum import StrEnum

from msgspec import Struct


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
