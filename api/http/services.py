"""What slices are built from, and how routes find what is built: in a request's state."""

from operator import attrgetter
from typing import Any

from fastapi import Depends, Request
from msgspec import Struct
from starlette.types import ASGIApp, Receive, Scope, Send

from api.accounts.cache import AccountCache
from api.accounts.store import AccountStore
from api.common.account_concurrency import LimitedSlots
from api.common.clock import Clock
from api.config import Settings
from api.db.database import Database
from api.engine_client import EngineClient
from api.jobs.store import JobStore
from api.metrics import Metrics


class CommonServices(Struct, frozen=True, kw_only=True):
    """The components of the process that every slice may use."""

    settings: Settings
    database: Database
    engine: EngineClient
    accounts: AccountStore
    account_cache: AccountCache
    jobs: JobStore
    metrics: Metrics
    searches: LimitedSlots
    now_ms: Clock


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
