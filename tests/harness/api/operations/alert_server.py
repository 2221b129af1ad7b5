"""A server of alerts, as Alertmanager or Prometheus answers."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.harness.ports import free_port

MANAGER, PROMETHEUS = "/api/v2/alerts", "/api/v1/alerts"


class AlertServer:
    """A server of alerts: bodies by path, and the requests that it got."""

    def __init__(self, bodies: dict[str, Any], *, status: int = 200) -> None:
        self.bodies = bodies
        self.status = status
        self.requests: list[str] = []
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    async def respond(self, request: web.Request) -> web.Response:
        """Respond with the body of a path."""
        self.requests.append(request.raw_path)
        body = self.bodies.get(request.path)
        if body is None:
            return web.Response(status=404)
        headers = {"Location": f"{self.url}/elsewhere"} if self.status == 302 else None
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return web.Response(body=sent, status=self.status, headers=headers)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["AlertServer"]:
        """Serve within the context."""
        app = web.Application()
        app.router.add_get("/{path:.*}", self.respond)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port).start()
        try:
            yield self
        finally:
            await runner.cleanup()
