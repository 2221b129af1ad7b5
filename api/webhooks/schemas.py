"""Query and views of the webhook log."""

from typing import Any, Literal

import msgspec
from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from api.common.timestamps import format_ms
from wire.webhook_log import AttemptKind, AttemptOutcome, AttemptSummary, AttemptView, LoggedText

MAX_LIMIT = 200
_ID = "[0-9]{1,19}-[0-9]{1,19}"  # of two numbers below 2 ** 64
ID_PATTERN = f"^{_ID}$"


class AttemptQuery(BaseModel):
    """Filters and page of a list; an attempt must match all filters."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)

    call_id: str = Field("", max_length=128)
    kind: Literal["action", "gather", "request", "callback"] | None = None
    outcome: Literal["succeeded", "failed"] | None = None
    limit: int = Field(50, ge=1, le=MAX_LIMIT)
    cursor: str = Field(
        "", pattern=f"^({_ID})?$", description="The `nextCursor` of the previous page."
    )
    after: str = Field(
        "",
        pattern=f"^({_ID})?$",
        description="List attempts after this id, earliest first; continue with `nextCursor`.",
    )

    def to_engine(self) -> dict[str, str]:
        """Return the same query of the engine's RPC."""
        filters = {
            "callId": self.call_id,
            "kind": self.kind,
            "outcome": self.outcome,
            "before": self.cursor,
            "after": self.after,
        }
        return {name: text for name, text in filters.items() if text} | {"limit": str(self.limit)}


class AttemptItem(Struct, frozen=True, rename="camel", kw_only=True):
    """One attempt to reach a server; `status` is 0 without a response."""

    id: str
    time: str
    kind: AttemptKind
    request_id: str  # the idempotency key: all attempts of a request have the same
    attempt: int
    call_id: str | None
    method: str
    url: str
    status: int
    took_ms: int
    outcome: AttemptOutcome
    reason: str
    retry_of: str | None
    to_listener: bool


class AttemptDetails(AttemptItem, frozen=True, kw_only=True):
    """One attempt in full; `***` stands for what the log does not contain."""

    request_headers: dict[str, str]
    request_body: LoggedText
    response_headers: dict[str, str]
    response_body: LoggedText
    detail: str


class AttemptPage(Struct, frozen=True, rename="camel"):
    """A page of attempts, the latest first."""

    data: tuple[AttemptItem, ...]
    limit: int
    next_cursor: str | None


def item_of(attempt: AttemptSummary) -> AttemptItem:
    return AttemptItem(**_fields(attempt))


def details_of(attempt: AttemptView) -> AttemptDetails:
    return AttemptDetails(**_fields(attempt))


def _fields(attempt: AttemptSummary) -> dict[str, Any]:
    fields = msgspec.structs.asdict(attempt)
    return {"time": format_ms(fields.pop("at_ms")), **fields}
