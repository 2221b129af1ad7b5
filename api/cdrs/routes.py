"""`/srmain/cdr…`: call records, asked for; each account sees its own."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from api.auth.dependencies import AuthenticatedUser
from api.cdrs.exports.service import ExportService, ExportView
from api.cdrs.plugin import CdrSlice
from api.cdrs.schemas import (
    CdrExportQuery,
    CdrListQuery,
    CustomerHistoryQuery,
    DispositionBody,
    ExportBody,
    Prefix,
)
from api.cdrs.service import CdrPage, CdrService, ClientIds
from api.cdrs.today import TodayStats
from api.cdrs.views import CdrView
from api.common.errors import InvalidRequest
from api.http.msgspec_adapter import answer, described, reading

router = APIRouter(tags=["Call records"])


def slice_of(request: Request) -> CdrSlice:
    """Give the slice of this process."""
    found: CdrSlice = request.app.state.services.cdrs
    return found


async def _records(request: Request) -> CdrService:
    return slice_of(request).records


async def _exports(request: Request) -> ExportService:
    return slice_of(request).exports


Records = Annotated[CdrService, Depends(_records)]
ExportsOf = Annotated[ExportService, Depends(_exports)]


@router.get("/srmain/cdr", **described("List call records", answered=CdrPage, statuses=(401,)))
async def list_records(
    who: AuthenticatedUser, asked: Annotated[CdrListQuery, Query()], records: Records
) -> Response:
    """Give a page of the calls that have ended, newest first."""
    return answer(await records.list(who.account_id, asked))


@router.post(
    "/srmain/cdr/export",
    **described(
        "Start an export",
        asked=ExportBody,
        answered=ExportView,
        statuses=(401, 429),
        example={"includeTimeline": True, "format": "csv"},
    ),
)
async def start_export(
    who: AuthenticatedUser,
    asked: Annotated[CdrExportQuery, Query()],
    body: Annotated[ExportBody, Depends(reading(ExportBody))],
    exports: ExportsOf,
) -> Response:
    """Make a file of the records that are there now, in the background."""
    return answer(await exports.start(who.account_id, asked, body))


@router.get(
    "/srmain/cdr/me/today-stats",
    **described("An agent's day so far", answered=TodayStats, statuses=(401,)),
)
async def today_stats(who: AuthenticatedUser, records: Records) -> Response:
    """Add up today's calls of the agent that the token is for."""
    if who.agent_id is None:
        raise InvalidRequest("the token is no agent's: ask for one with agentId", "agent_required")
    return answer(await records.today(who.account_id, who.agent_id))


@router.get(
    "/srmain/cdr/customer-history",
    **described("A customer's calls", answered=CdrPage, statuses=(401,)),
)
async def customer_history(
    who: AuthenticatedUser, asked: Annotated[CustomerHistoryQuery, Query()], records: Records
) -> Response:
    """Give a page of the calls in which a number took part, newest first."""
    return answer(await records.history(who.account_id, asked))


@router.get(
    "/srmain/cdr/{prefix}/getClientIds",
    **described("Client ids that begin so", answered=ClientIds, statuses=(401,)),
)
async def client_ids(who: AuthenticatedUser, prefix: Prefix, records: Records) -> Response:
    """List the ids of clients that have call records."""
    return answer(await records.clients(who.account_id, prefix))


@router.get(
    "/srmain/cdr/exports/{exportId}",
    **described("How far an export is", answered=ExportView, statuses=(401, 404)),
)
async def get_export(
    export_id: Annotated[str, Path(alias="exportId")],
    who: AuthenticatedUser,
    exports: ExportsOf,
) -> Response:
    """Tell how far an export is."""
    return answer(await exports.get(who.account_id, export_id))


@router.get(
    "/srmain/cdr/exports/{exportId}/download",
    **described("The file of an export", statuses=(401, 404, 409)),
)
async def download(
    export_id: Annotated[str, Path(alias="exportId")],
    who: AuthenticatedUser,
    exports: ExportsOf,
) -> StreamingResponse:
    """Send an export's file."""
    kind, content = await exports.download(who.account_id, export_id)
    name = f"cdr-{export_id}.{'csv' if kind.startswith('text/csv') else 'jsonl'}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(content, media_type=kind, headers=headers)


@router.get(
    "/srmain/cdr/{id}",
    **described("One call record", answered=CdrView, statuses=(401, 404)),
)
async def get_record(
    call_id: Annotated[str, Path(alias="id")],
    who: AuthenticatedUser,
    records: Records,
) -> Response:
    """Give a call's record, with its timeline."""
    return answer(await records.get(who.account_id, call_id))


@router.patch(
    "/srmain/cdr/{id}/disposition",
    **described(
        "Set a call's dispositions",
        asked=DispositionBody,
        answered=CdrView,
        statuses=(401, 404),
        example={"dispositionLevel1Id": "sale", "dispositionLevel2Id": "follow-up"},
    ),
)
async def set_disposition(
    call_id: Annotated[str, Path(alias="id")],
    who: AuthenticatedUser,
    body: Annotated[DispositionBody, Depends(reading(DispositionBody))],
    records: Records,
) -> Response:
    """Note what somebody decided about a call."""
    return answer(await records.set_dispositions(who.account_id, call_id, body))
