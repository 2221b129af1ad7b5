"""Deletes expired rows once an hour."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from api.common.errors import ApiError

INTERVAL_S = 3_600.0
log = structlog.get_logger()


async def clean_up(
    delete_expired: Callable[[], Awaitable[None]], interval_s: float = INTERVAL_S
) -> None:
    """Delete now and then at each interval, until cancelled."""
    while True:
        try:
            await delete_expired()
        except ApiError as error:
            log.warning("cleanup failed", reason=error.detail)
        except Exception:
            log.exception("cleanup failed")  # the next one may succeed
        await asyncio.sleep(interval_s)
