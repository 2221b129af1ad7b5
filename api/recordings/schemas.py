"""Query and views of the recording routes."""

from typing import Literal

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from api.cdrs.schemas import MAX_LIMIT, EndTimestamp, PlainText, Timestamp
from api.transcripts.store import Reason, State, TranscriptSegment


class RecordingQuery(BaseModel):
    """Filters and page of a list; a page has `limit` calls."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)

    purpose: Literal["call", "voicemail"] = "call"
    call_id: PlainText = ""
    start_time: Timestamp = Field(None, description="Of calls that started then or later.")
    end_time: EndTimestamp = Field(None, description="Of calls that started before.")
    limit: int = Field(10, ge=1, le=MAX_LIMIT)
    cursor: str = Field("", max_length=64, description="The `nextCursor` of the previous page.")


class RecordingItem(Struct, frozen=True, rename="camel"):
    """A recording; `signedUrl` works without a token until it expires."""

    call_id: str
    purpose: str
    start_time: str  # of the call
    duration_ms: int  # 0: it is not archived yet
    url: str
    signed_url: str
    transcript: State | None  # how far it is; None: there is none


class RecordingPage(Struct, frozen=True, rename="camel"):
    """A page of recordings, those of the newest calls first."""

    data: tuple[RecordingItem, ...]
    limit: int
    next_cursor: str | None


class TranscriptView(Struct, frozen=True, rename="camel"):
    """A transcript; segments are in order of time. `reason` and `detail` say why it failed."""

    call_id: str
    state: State
    reason: Reason | None
    detail: str | None
    recognizer: str | None  # None: none has taken it yet
    language: str | None
    duration_ms: int | None
    created_time: str
    ended_time: str | None
    segments: tuple[TranscriptSegment, ...]
