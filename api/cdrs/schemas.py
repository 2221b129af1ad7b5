"""Query parameters and bodies of the call-record routes, as in docs/cdrs.md.

An empty filter matches any value. A required parameter must be present nevertheless.
"""

import re
from typing import Annotated, Any, Literal

import msgspec
from fastapi import Path
from msgspec import UNSET, Meta, Struct, UnsetType, field
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo
from pydantic import WithJsonSchema as Documented
from pydantic.alias_generators import to_camel

from api.auth.principal import Principal
from api.cdrs.query.filters import Filters
from api.common.timestamps import parse_ms
from base.limit import Limit
from wire.decoding import patterns
from wire.decoding.errors import BadInput
from wire.phone_numbers.e164 import canonical, without_separators

MAX_NAMES = 20
MAX_NAME_CHARS = 128
MAX_LIMIT = 1_000
MAX_OFFSET = 100_000  # beyond it, use a cursor: skipping rows takes time
MAX_EXPORT_ROWS: Annotated[
    int, Limit("request", "400 `invalid`", "Rows of an export of call records.")
] = 5_000_000
_PLAIN = re.compile(f"{patterns.PLAIN}*")
_LINE = re.compile(r"[^\x00-\x1f\x7f]*")
_PARTY = re.compile(rf"{patterns.PARTY}|{patterns.NAME}")


def _number(text: str) -> str:
    number = without_separators(text)
    if number and not _PARTY.search(number):
        raise ValueError("expected a number such as +4721930000, without wildcards")
    return number


def _time(text: Any) -> int | None:
    return parse_ms(text) if isinstance(text, str) and text else text or None


def _end_time(text: Any, others: ValidationInfo) -> int | None:
    if not (isinstance(text, str) and text):
        return text or None
    start_ms, end_ms = others.data.get("start_time"), parse_ms(text, is_end=True)
    if start_ms is not None and parse_ms(text) < start_ms >= end_ms:
        raise ValueError("before startTime")
    return end_ms


def split_names(text: str) -> tuple[str, ...]:
    """Split comma-separated names; the whole text may be one, too, such as "Berg, Nina"."""
    names = _between_commas(text)
    whole = (text,) if names and len(text) <= MAX_NAME_CHARS else ()
    return tuple(dict.fromkeys((*whole, *names)))


def _between_commas(text: str) -> tuple[str, ...]:
    names = (name.strip(" ") for name in text.split(","))  # other blanks may be part of a name
    return tuple(dict.fromkeys(filter(None, names)))


def _names(text: str) -> str:
    names = _between_commas(_line(text))
    if len(names) > MAX_NAMES or any(len(name) > MAX_NAME_CHARS for name in names):
        raise ValueError(f"expected at most {MAX_NAMES} names of {MAX_NAME_CHARS} letters")
    return text


def _line(text: str) -> str:
    if not _LINE.fullmatch(text):
        raise ValueError("expected text on one line, without control characters")
    return text


def _plain(text: str) -> str:
    if not _PLAIN.fullmatch(text):
        raise ValueError("expected plain text: no wildcard (% * ?), no backslash, on one line")
    return text


PlainText = Annotated[str, Field(max_length=256), AfterValidator(_plain)]
# What customers name: it may have any character that a line has, and is compared as it is.
CustomText = Annotated[str, Field(max_length=256), AfterValidator(_line)]
Number = Annotated[str, Field(max_length=330), AfterValidator(_number)]
Timestamp = Annotated[
    int | None, BeforeValidator(_time), Documented({"type": "string", "format": "date-time"})
]
# After the field `start_time`: the end is not before it.
EndTimestamp = Annotated[
    int | None, BeforeValidator(_end_time), Documented({"type": "string", "format": "date-time"})
]
AgentNames = Annotated[str, Field(max_length=4_096), AfterValidator(_names)]
Prefix = Annotated[str, Path(min_length=1, max_length=256), AfterValidator(_line)]


class CdrFilterQuery(BaseModel):
    """The filters of lists and exports."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)

    dialed_number: Number = Field(description="One of the dialled numbers.")
    disposition_level1_id: PlainText
    disposition_level2_id: PlainText
    disposition_level3_id: PlainText
    req_id: PlainText = ""
    start_time: Timestamp = Field(
        None, description="Calls that started at that time or later; requires endTime."
    )
    end_time: EndTimestamp = Field(
        None,
        description="Calls that started before, or until the end of a date; requires startTime.",
    )
    client_id: CustomText = ""
    caller_id: Number = ""
    to_number: Number = ""
    call_path: PlainText = ""
    obd_type: CustomText = ""
    answer_status: Literal["answered", "missed", ""] = ""
    recording_purpose: Literal["call", "voicemail", ""] = ""
    agent_name: AgentNames = Field(
        "", description="One or more names, separated by commas; the whole text may be one, too."
    )


class CdrListQuery(CdrFilterQuery):
    """Filters and page of a list."""

    limit: int = Field(10, ge=1, le=MAX_LIMIT)
    offset: int = Field(0, ge=0, le=MAX_OFFSET)
    cursor: str = Field("", max_length=64, description="The `nextCursor` of the previous page.")


class CdrExportQuery(CdrFilterQuery):
    """Filters and range of an export."""

    limit: int = Field(10, ge=1, le=MAX_EXPORT_ROWS)
    offset: int = Field(0, ge=0, le=MAX_OFFSET)


class CustomerHistoryQuery(BaseModel):
    """Number and page of a customer's history."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: Annotated[Number, Field(min_length=2)]
    limit: int = Field(ge=1, le=MAX_LIMIT)
    offset: int = Field(ge=0, le=MAX_OFFSET)
    cursor: str = Field("", max_length=64, description="The `nextCursor` of the previous page.")


Level = Annotated[str, Meta(max_length=128, pattern=patterns.PLAIN_TEXT)]


class DispositionRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Disposition levels; null clears a level, an omitted level stays."""

    level1: Level | UnsetType | None = field(name="dispositionLevel1Id", default=UNSET)
    level2: Level | UnsetType | None = field(name="dispositionLevel2Id", default=UNSET)
    level3: Level | UnsetType | None = field(name="dispositionLevel3Id", default=UNSET)

    def columns(self) -> dict[str, str | None]:
        """Return the columns that change."""
        found = msgspec.structs.asdict(self).items()
        return {f"disposition{name[-1]}": value for name, value in found if value is not UNSET}


class CallRecordExportRequest(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Format of an export."""

    include_timeline: bool = False
    format: Literal["csv", "jsonl"] = "csv"


def own_agent(user: Principal) -> str:
    """Return the agent whose records alone a token may read; empty: all of the account."""
    return user.only_agent("cdr") or ""


def to_filters(user: Principal, query: CdrFilterQuery, region: str | None = None) -> Filters:
    """Convert query parameters to filters; raises BadInput for an invalid time range."""
    _check_times(query)
    return Filters(
        user.account_id,
        agent_id=own_agent(user),
        req_id=query.req_id,
        client_id=query.client_id,
        caller_id=canonical(query.caller_id, region),
        to_number=canonical(query.to_number, region),
        dialed_number=canonical(query.dialed_number, region),
        call_path=query.call_path,
        obd_type=query.obd_type,
        disposition1=query.disposition_level1_id,
        disposition2=query.disposition_level2_id,
        disposition3=query.disposition_level3_id,
        is_answered=query.answer_status == "answered" if query.answer_status else None,
        purpose=query.recording_purpose,
        agent_names=split_names(query.agent_name),
        start_ms=query.start_time,
        end_ms=query.end_time,
    )


def _check_times(query: CdrFilterQuery) -> None:
    start_ms, end_ms = query.start_time, query.end_time
    if start_ms is None and end_ms is not None:
        raise BadInput("startTime", "needed with endTime")
    if start_ms is not None and end_ms is None:
        raise BadInput("endTime", "needed with startTime")
