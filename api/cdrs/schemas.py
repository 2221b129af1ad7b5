"""What is asked for: filters as the specification names them, each checked where it comes in.

An empty filter means any. What is marked required must be there all the same.
"""

import re
from typing import Annotated, Any, Literal

import msgspec
from fastapi import Path
from msgspec import UNSET, Meta, Struct, UnsetType, field
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic import WithJsonSchema as Documented
from pydantic.alias_generators import to_camel

from api.common.timestamps import parse_ms
from wire import patterns

MAX_NAMES = 20
MAX_NAME_CHARS = 128
MAX_LIMIT = 1_000
MAX_OFFSET = 100_000  # beyond, a cursor: passing over rows costs time
MAX_EXPORT_ROWS = 5_000_000
PLAIN = r"[^\x00-\x1f\x7f%*?\\]"
_PLAIN = re.compile(f"{PLAIN}*")
_PARTY = re.compile(rf"{patterns.PARTY}|{patterns.NAME}")


def _number(text: str) -> str:
    # A plus sign that was not escaped arrives as a space.
    number = re.sub("^ ", "+", text)
    if number and not _PARTY.search(number):
        raise ValueError("expected a number such as +4721930000, without wildcards")
    return number


def _time(text: Any) -> int | None:
    return parse_ms(text) if isinstance(text, str) else text


def split_names(text: str) -> tuple[str, ...]:
    """Split names at their commas."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _names(text: str) -> str:
    names = split_names(_plain(text))
    if len(names) > MAX_NAMES or any(len(name) > MAX_NAME_CHARS for name in names):
        raise ValueError(f"expected at most {MAX_NAMES} names of {MAX_NAME_CHARS} letters")
    return text


def _plain(words: str) -> str:
    if not _PLAIN.fullmatch(words):
        raise ValueError("expected plain text: no wildcard (% * ?), no backslash, on one line")
    return words


PlainText = Annotated[str, Field(max_length=256), AfterValidator(_plain)]
Number = Annotated[str, Field(max_length=330), AfterValidator(_number)]
Timestamp = Annotated[
    int | None, BeforeValidator(_time), Documented({"type": "string", "format": "date-time"})
]
AgentNames = Annotated[str, Field(max_length=4_096), AfterValidator(_names)]
Prefix = Annotated[str, Path(min_length=1, max_length=256), AfterValidator(_plain)]


class CdrFilterQuery(BaseModel):
    """The filters of the list and of exports."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)

    dialed_number: Number = Field(description="One of the numbers that were really called.")
    disposition_level1_id: PlainText
    disposition_level2_id: PlainText
    disposition_level3_id: PlainText
    req_id: PlainText = ""
    start_time: Timestamp = Field(None, description="Calls that began then or later; with endTime.")
    end_time: Timestamp = Field(None, description="Calls that began before; with startTime.")
    client_id: PlainText = ""
    caller_id: Number = ""
    to_number: Number = ""
    call_path: PlainText = ""
    obd_type: PlainText = ""
    answer_status: Literal["answered", "missed", ""] = ""
    recording_purpose: Literal["call", "voicemail", ""] = ""
    agent_name: AgentNames = Field("", description="Any of several, separated by commas.")


class CdrListQuery(CdrFilterQuery):
    """A page of the list."""

    limit: int = Field(10, ge=1, le=MAX_LIMIT)
    offset: int = Field(0, ge=0, le=MAX_OFFSET)
    cursor: str = Field("", max_length=64, description="A page's `nextCursor`: what comes after.")


class CdrExportQuery(CdrFilterQuery):
    """What an export has: as the list, but more of it."""

    limit: int = Field(10, ge=1, le=MAX_EXPORT_ROWS)
    offset: int = Field(0, ge=0, le=MAX_OFFSET)


class CustomerHistoryQuery(BaseModel):
    """A page of a customer's calls."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: Annotated[Number, Field(min_length=2)]
    limit: int = Field(ge=1, le=MAX_LIMIT)
    offset: int = Field(ge=0, le=MAX_OFFSET)


Level = Annotated[str, Meta(max_length=128, pattern=f"^{PLAIN}+{patterns.END}")]


class DispositionBody(Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody decided about a call; null takes a level out, what is left out stays."""

    level1: Level | UnsetType | None = field(name="dispositionLevel1Id", default=UNSET)
    level2: Level | UnsetType | None = field(name="dispositionLevel2Id", default=UNSET)
    level3: Level | UnsetType | None = field(name="dispositionLevel3Id", default=UNSET)

    def columns(self) -> dict[str, str | None]:
        """Give the columns that are changed."""
        found = msgspec.structs.asdict(self).items()
        return {f"disposition{name[-1]}": value for name, value in found if value is not UNSET}


class ExportBody(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """How an export is made."""

    include_timeline: bool = False
    format: Literal["csv", "jsonl"] = "csv"
