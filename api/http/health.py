"""Liveness, readiness and metrics of this process; none of them needs a token.

They are at the port of the API, or at a port of their own that customers do not reach.
"""

from fastapi import APIRouter, FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.types import ASGIApp

from api.http.msgspec_adapter import json_response
from api.http.services import ServiceState

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def alive() -> Response:
    return json_response({"status": "ok"})


@router.get("/readyz")
async def ready(request: Request) -> Response:
    """Show whether it has a database and an engine."""
    faults = await request.state.services.readiness.faults()
    return json_response({"ready": not faults, "faults": faults}, 503 if faults else 200)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    page = generate_latest(request.state.services.metrics.registry)
    return Response(page, headers={"Content-Type": CONTENT_TYPE_LATEST})


def create_health_app(services: object) -> ASGIApp:
    """Build the application of a port of its own."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.include_router(router)
    return ServiceState(app, services)
