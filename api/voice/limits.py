"""Limits of an account's calls: live calls, and new calls per second."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from msgspec import Struct

from api.accounts.store import Account
from api.common.errors import ApiError, TooManyRequests
from api.engine_client import EngineClient
from api.voice.live_calls import LiveCalls
from api.voice.rate_limits import RateLimits
from wire.views import Calls


class CallLimits(Struct, frozen=True):
    """Admits new calls; all processes share both limits."""

    engine: EngineClient
    rate_limits: RateLimits
    live_calls: LiveCalls

    @asynccontextmanager
    async def admit(self, account: Account) -> AsyncIterator[None]:
        """Count a call as pending while an engine starts it; raises TooManyRequests."""
        async with AsyncExitStack() as stack:
            if account.max_calls is not None:
                await stack.enter_async_context(self._reservation(account.id, account.max_calls))
            rate = account.max_calls_per_s
            if rate is not None and not await self.rate_limits.take(account.id, rate):
                raise TooManyRequests(
                    f"more than {rate:g} calls a second", "call_rate", retry_after_s=1
                )
            yield

    @asynccontextmanager
    async def _reservation(self, account_id: str, max_calls: int) -> AsyncIterator[None]:
        reservation = await self.live_calls.reserve(account_id, max_calls)
        if reservation is None and not await self.live_calls.is_current(account_id):
            await self._recount(account_id)
            reservation = await self.live_calls.reserve(account_id, max_calls)
        if reservation is None:
            raise TooManyRequests(
                f"{max_calls} calls are live already", "live_calls", retry_after_s=1
            )
        try:
            yield
        finally:
            with suppress(ApiError):  # the call has started; the reservation expires
                await self.live_calls.release(reservation)

    async def _recount(self, account_id: str) -> None:
        pending = await self.live_calls.pending(account_id)
        live = await self.engine.request(Calls, "GET", "/calls", query={"account": account_id})
        await self.live_calls.set_count(account_id, len(live.calls) + pending)
