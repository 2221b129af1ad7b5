"""Liveness, readiness and metrics of this process; none of them needs a token.

They are at a port of their own, which customers do not reach. Each is made at most once a second,
however often it is requested.
"""

import time
from collections.abc import Callable

from fastapi import FastAPI, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from api.http.msgspec_adapter import json_response
from api.http.readiness import Readiness

CACHE_S = 1.0


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
