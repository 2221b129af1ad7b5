"""Dependencies of the call-record routes."""

from typing import Annotated

from fastapi import Depends, Path, Request

from api.cdrs.exports.service import ExportService
from api.cdrs.plugin import CdrSlice
from api.cdrs.service import CdrService


def cdr_slice(request: Request) -> CdrSlice:
    found: CdrSlice = request.app.state.services.cdrs
    return found


async def _records(request: Request) -> CdrService:
    return cdr_slice(request).records


async def _exports(request: Request) -> ExportService:
    return cdr_slice(request).exports


Records = Annotated[CdrService, Depends(_records)]
Exports = Annotated[ExportService, Depends(_exports)]
CallId = Annotated[str, Path(alias="id")]
ExportId = Annotated[str, Path(alias="exportId")]
