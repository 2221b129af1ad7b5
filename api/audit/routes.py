"""`/srmain/audit`: the audit trail of an account."""

from typing import Annotated

from fastapi import Query
from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from api.audit.trail import AuditFilters, AuditTrail, StoredEntry
from api.auth.dependencies import AuthenticatedUser
from api.cdrs.schemas import MAX_LIMIT, EndTimestamp, PlainText, Timestamp
from api.common.timestamps import format_ms
from api.http.routes import Routes
from api.http.services import service

routes = Routes("Audit")
Trail = Annotated[AuditTrail, service("audit")]


class AuditQuery(BaseModel):
    """Filters and page of a list."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)

    actor: PlainText = Field("", description="`key:ID`, `dnc-token:ID` or `user:NAME`.")
    agent_id: PlainText = ""
    action: PlainText = Field("", description="Such as `DELETE /srmain/dnc/{id}`.")
    start_time: Timestamp = None
    end_time: EndTimestamp = None
    limit: int = Field(100, ge=1, le=MAX_LIMIT)
    cursor: int | None = Field(
        None, ge=1, le=2**53, description="The `nextCursor` of the previous page."
    )


class AuditItem(Struct, frozen=True, rename="camel"):
    """An action; `outcome` is the status of the response, or `done` or `failed`."""

    time: str
    actor: str
    agent_id: str | None
    address: str
    action: str
    object: str
    outcome: str
    request_id: str


class AuditPage(Struct, frozen=True, rename="camel"):
    """A page of the audit trail, newest first."""

    data: tuple[AuditItem, ...]
    limit: int
    next_cursor: int | None


@routes.get("/srmain/audit", id="audit.list", scope="audit")
async def list_audit(
    user: AuthenticatedUser, query: Annotated[AuditQuery, Query()], trail: Trail
) -> AuditPage:
    """List who did what in the account, newest first.

    Requests that change something, that read recordings or exports, and that were not allowed. A
    page may be short although there is a `nextCursor`.
    """
    filters = AuditFilters(
        user.account_id,
        query.actor,
        query.agent_id,
        query.action,
        query.start_time,
        query.end_time,
    )
    page = await trail.page(filters, query.limit, query.cursor)
    return AuditPage(tuple(map(_item, page.entries)), query.limit, page.next_id)


def _item(stored: StoredEntry) -> AuditItem:
    entry = stored.entry
    return AuditItem(
        format_ms(entry.at_ms),
        entry.actor,
        entry.agent_id,
        entry.address,
        entry.action,
        entry.object,
        entry.outcome,
        entry.request_id,
    )
