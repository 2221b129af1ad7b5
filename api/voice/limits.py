"""How many calls an account may have: at once, and new ones a second."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from api.accounts.store import Account
from api.common.errors import ApiError, TooManyRequests
from api.engine_client import EngineClient
from api.voice.live_calls import LiveCalls
from api.voice.rate_limits import RateLimits
from wire.views import Calls


class CallLimits:
    """Lets calls in; both limits are those of all processes together."""

    def __init__(self, engine: EngineClient, paces: RateLimits, counts: LiveCalls) -> None:
        self._engine = engine
        self._rate_limits = paces
        self._live_calls = counts

    @asynccontextmanager
    async def admit(self, account: Account) -> AsyncIterator[None]:
        """Let one more call in, while an engine is asked for it; raises TooMany."""
        async with AsyncExitStack() as held:
            if account.max_calls is not None:
                await held.enter_async_context(self._place(account.id, account.max_calls))
            rate = account.max_calls_per_s
            if rate is not None and not await self._rate_limits.take(account.id, rate):
                raise TooManyRequests(
                    f"more than {rate:g} calls a second", "call_rate", retry_after_s=1
                )
            yield

    @asynccontextmanager
    async def _place(self, account_id: str, most: int) -> AsyncIterator[None]:
        noted = await self._live_calls.reserve(account_id, most)
        if noted is None and not await self._live_calls.is_current(account_id):
            await self._count(account_id)
            noted = await self._live_calls.reserve(account_id, most)
        if noted is None:
            raise TooManyRequests(f"{most} calls are live already", "live_calls", retry_after_s=1)
        try:
            yield
        finally:
            with suppress(ApiError):  # the call is made all the same; the note ends by itself
                await self._live_calls.release(noted)

    async def _count(self, account_id: str) -> None:
        asked = await self._live_calls.pending(account_id)
        shown = await self._engine.request(Calls, "GET", "/calls", query={"account": account_id})
        await self._live_calls.set_count(account_id, len(shown.calls) + asked)
