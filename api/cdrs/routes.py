"""`/srmain/cdr…`: call records; each account sees its own."""

from typing import Annotated

from fastapi import Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from api.auth.dependencies import AuthenticatedUser, identify
from api.auth.principal import Principal
from api.cdrs.exports import CallRecordExport, ExportService
from api.cdrs.live_events import LiveEvents
from api.cdrs.schemas import (
    CallRecordExportRequest,
    CdrExportQuery,
    CdrListQuery,
    CustomerHistoryQuery,
    DispositionRequest,
    Prefix,
)
from api.cdrs.service import CdrPage, CdrService, ClientIds, TodayStats
from api.cdrs.views import CdrView
from api.common.errors import InvalidRequest
from api.http.routes import Body, Routes
from api.http.services import service

routes = Routes("Call records")
Records = Annotated[CdrService, service("cdrs.records")]
Exports = Annotated[ExportService, service("cdrs.exports")]
CallId = Annotated[str, Path(alias="id")]
ExportId = Annotated[str, Path(alias="exportId")]
live_routes = Routes("Live events")


@routes.get("/srmain/cdr", id="records.list", scope="cdr:own")
async def list_records(
    user: AuthenticatedUser, query: Annotated[CdrListQuery, Query()], records: Records
) -> CdrPage:
    """List the records of ended calls, newest first."""
    return await records.list(user, query)


@routes.post(
    "/srmain/cdr/export",
    id="records.startExport",
    scope="cdr:own",
    errors=(409, 429),
    example={"includeTimeline": True, "format": "csv"},
    idempotent=True,
)
async def start_export(
    user: AuthenticatedUser,
    query: Annotated[CdrExportQuery, Query()],
    body: Body[CallRecordExportRequest],
    exports: Exports,
) -> CallRecordExport:
    """Start an export.

    A background job writes the records that exist now to a file.
    """
    return await exports.start(user, query, body)


@routes.get("/srmain/cdr/me/today-stats", id="records.today", scope="cdr:own")
async def today_stats(user: AuthenticatedUser, records: Records) -> TodayStats:
    """Show today's call statistics of the token's agent."""
    if user.agent_id is None:
        raise InvalidRequest("the token is no agent's: ask for one with agentId", "agent_required")
    return await records.today(user.account_id, user.agent_id)


@routes.get("/srmain/cdr/customer-history", id="records.customerHistory", scope="cdr:own")
async def customer_history(
    user: AuthenticatedUser, query: Annotated[CustomerHistoryQuery, Query()], records: Records
) -> CdrPage:
    """List the calls of a number, newest first."""
    return await records.history(user, query)


@routes.get("/srmain/cdr/{prefix}/getClientIds", id="records.clientIds", scope="cdr")
async def client_ids(user: AuthenticatedUser, prefix: Prefix, records: Records) -> ClientIds:
    """List the client ids with a prefix that have call records."""
    return await records.clients(user.account_id, prefix)


@routes.get("/srmain/cdr/exports/{exportId}", id="records.export", scope="cdr:own", errors=(404,))
async def get_export(
    export_id: ExportId, user: AuthenticatedUser, exports: Exports
) -> CallRecordExport:
    """Show the progress of an export."""
    return await exports.get(user, export_id)


@routes.get(
    "/srmain/cdr/exports/{exportId}/download",
    id="records.downloadExport",
    scope="cdr:own",
    errors=(404, 409),
    has_file=True,
)
async def download(
    export_id: ExportId, user: AuthenticatedUser, exports: Exports
) -> StreamingResponse:
    """Download the file of an export."""
    kind, content = await exports.download(user, export_id)
    name = f"cdr-{export_id}.{'csv' if kind.startswith('text/csv') else 'jsonl'}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(content, media_type=kind, headers=headers)


@routes.get("/srmain/cdr/{id}", id="records.get", scope="cdr:own", errors=(404,))
async def get_record(call_id: CallId, user: AuthenticatedUser, records: Records) -> CdrView:
    """Show a call record with its timeline."""
    return await records.get(user, call_id)


@routes.patch(
    "/srmain/cdr/{id}/disposition",
    id="records.setDisposition",
    scope="cdr:own",
    errors=(404,),
    example={"dispositionLevel1Id": "sale", "dispositionLevel2Id": "follow-up"},
)
async def set_disposition(
    call_id: CallId, user: AuthenticatedUser, body: Body[DispositionRequest], records: Records
) -> CdrView:
    """Set the dispositions of a call."""
    return await records.set_dispositions(user, call_id, body)


@live_routes.get("/srmain/voice/events", id="events.stream", scope="calls", errors=(429, 503))
async def live_events(
    user: AuthenticatedUser,
    request: Request,
    live: Annotated[LiveEvents, service("cdrs.live")],
    last_event_id: Annotated[str | None, Header(max_length=16_384)] = None,
) -> Response:
    """Stream the account's call events as server-sent events.

    The stream starts now, or after the event that Last-Event-ID names.
    """

    async def reauthenticate() -> Principal:
        return await identify(request)

    return await live.stream(user.account_id, last_event_id, reauthenticate)
