"""How routes find the services of the process (`api.services.Services`): in a request's state."""

from operator import attrgetter
from typing import Any

from fastapi import Depends, Request
from starlette.types import ASGIApp, Receive, Scope, Send


class ServiceState:
    """The layer that adds the services to each request; the routes below know none."""

    def __init__(self, app: ASGIApp, services: object) -> None:
        self._app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope.setdefault("state", {})["services"] = self._services
        await self._app(scope, receive, send)


def service(path: str) -> Any:
    """Return the dependency on a service, such as `service("contacts.search")`.

    It is a coroutine although it awaits nothing: FastAPI runs plain functions in a thread, which is
    slower.
    """
    find = attrgetter(path)

    async def get(request: Request) -> Any:
        return find(request.state.services)

    return Depends(get)
