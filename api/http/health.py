"""Whether this process lives, and whether it can do its work; and its metrics. Without a token."""

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import text

from api.common.errors import ApiError
from api.http.msgspec_adapter import answer

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def alive() -> Response:
    """Say that the process answers."""
    return answer({"status": "ok"})


@router.get("/readyz")
async def ready(request: Request) -> Response:
    """Say whether database and engine are there."""
    parts, faults = request.app.state.services, []
    try:
        async with parts.database.reading() as connection:
            await connection.execute(text("SELECT 1"))
    except ApiError as error:
        faults.append(error.detail)
    try:
        await parts.engine.raw("GET", "/nodes")
    except ApiError as error:
        faults.append(error.detail)
    return answer({"ready": not faults, "faults": faults}, 503 if faults else 200)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Tell what was counted."""
    page = generate_latest(request.app.state.services.metrics.registry)
    return Response(page, headers={"Content-Type": CONTENT_TYPE_LATEST})
