"""Liveness, readiness and metrics of this process; none of them needs a token."""

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import text

from api.common.errors import ApiError
from api.http.msgspec_adapter import json_response

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def alive() -> Response:
    return json_response({"status": "ok"})


@router.get("/readyz")
async def ready(request: Request) -> Response:
    """Check database and engine."""
    services, faults = request.app.state.services, []
    try:
        async with services.database.reading() as connection:
            await connection.execute(text("SELECT 1"))
    except ApiError as error:
        faults.append(error.detail)
    try:
        await services.engine.request_raw("GET", "/nodes")
    except ApiError as error:
        faults.append(error.detail)
    return json_response({"ready": not faults, "faults": faults}, 503 if faults else 200)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    page = generate_latest(request.app.state.services.metrics.registry)
    return Response(page, headers={"Content-Type": CONTENT_TYPE_LATEST})
