"""Whether this process can serve requests: it has a database and an engine."""

import asyncio
import time
from collections.abc import Callable

from fastapi import FastAPI, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from sqlalchemy import text

from api.common.errors import ApiError
from api.db.database import Database
from api.engine_client import EngineClient
from api.http.msgspec_adapter import json_response

CACHE_S = 1.0


class Readiness:
    """Checks at most once a second: these requests need no token."""

    def __init__(
        self, database: Database, engine: EngineClient, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._engine = engine
        self._clock = clock
        self._lock = asyncio.Lock()
        self._until_s = float("-inf")
        self._faults: list[str] = []

    async def faults(self) -> list[str]:
        """Return why it cannot serve requests; empty if it can."""
        async with self._lock:
            if self._clock() >= self._until_s:
                self._faults = await self._check()
                self._until_s = self._clock() + CACHE_S
            return self._faults

    async def _check(self) -> list[str]:
        faults = []
        try:
            async with self._database.reading() as connection:
                await connection.execute(text("SELECT 1"))
        except ApiError as error:
            faults.append(error.detail)
        try:
            await self._engine.request_raw("GET", "/nodes")
        except ApiError as error:
            faults.append(error.detail)
        return faults


class MetricsPage:
    """The metrics as text; making it takes as long as there are series."""

    def __init__(
        self, registry: CollectorRegistry, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._registry = registry
        self._now_s = now_s
        self._made_s = -CACHE_S
        self._page = b""

    def read(self) -> bytes:
        """Return the page, of a second ago at most."""
        if self._now_s() - self._made_s >= CACHE_S:
            self._page, self._made_s = generate_latest(self._registry), self._now_s()
        return self._page


def create_health_app(readiness: Readiness, page: MetricsPage) -> FastAPI:
    """Build the application."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    @app.get("/healthz")
    async def alive() -> Response:
        return json_response({"status": "ok"})

    @app.get("/readyz")
    async def ready() -> Response:
        """Show whether it has a database and an engine."""
        faults = await readiness.faults()
        return json_response({"ready": not faults, "faults": faults}, 503 if faults else 200)

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(page.read(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    return app
