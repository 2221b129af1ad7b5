"""Now and then, what is of no use any more is forgotten."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from api.common.errors import ApiError
from api.http.idempotency import Idempotency

INTERVAL_S = 3_600.0
log = structlog.get_logger()


@asynccontextmanager
async def run_cleanup(idempotency: Idempotency, every_s: float = INTERVAL_S) -> AsyncIterator[None]:
    """Sweep at once and then every hour, for as long as the context lasts."""
    task = asyncio.create_task(_swept(idempotency, every_s))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _swept(idempotency: Idempotency, every_s: float) -> None:
    while True:
        try:
            await idempotency.delete_expired()
        except ApiError as error:
            log.warning("not swept", reason=error.detail)
        await asyncio.sleep(every_s)
