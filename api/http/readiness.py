"""Whether this process can serve requests: it has a database and an engine."""

import asyncio
import time
from collections.abc import Callable

from sqlalchemy import text

from api.common.errors import ApiError
from api.db.database import Database
from api.engine_client import EngineClient

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
