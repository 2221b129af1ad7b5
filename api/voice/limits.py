"""How many calls an account may have: at once, and new ones a second."""

from msgspec import Struct

from api.accounts.store import Account
from api.clock import Clock
from api.engine_client import EngineClient
from api.errors import TooMany
from api.remembered import Remembered
from api.voice.store import Paces
from wire.views import Calls

FRESH_MS = 1_000


class _Seen(Struct):
    """Live calls when the engine was last asked, and those that were let in since."""

    count: int
    until_ms: int


class CallLimits:
    """Lets calls in.

    Calls at once are those that engines show, asked for once a second, and those that this process
    let in since: several processes together may let in what they begin within that second.
    """

    def __init__(self, engine: EngineClient, paces: Paces, now_ms: Clock) -> None:
        self._engine = engine
        self._paces = paces
        self._now_ms = now_ms
        self._seen: Remembered[str, _Seen] = Remembered()

    async def check(self, account: Account) -> None:
        """Let one more call in; raises TooMany."""
        if account.max_calls is not None:
            await self._check_live(account.id, account.max_calls)
        rate = account.max_calls_per_s
        if rate is not None and not await self._paces.take(account.id, rate):
            raise TooMany(f"more than {rate:g} calls a second", "call_rate", retry_after_s=1)

    async def _check_live(self, account_id: str, most: int) -> None:
        seen = self._seen.get(account_id)
        if seen is None or seen.until_ms <= self._now_ms():
            found = await self._engine.ask(Calls, "GET", "/calls", query={"account": account_id})
            seen = self._seen.put(account_id, _Seen(len(found.calls), self._now_ms() + FRESH_MS))
        if seen.count >= most:
            raise TooMany(f"{most} calls are live already", "live_calls", retry_after_s=1)
        seen.count += 1
