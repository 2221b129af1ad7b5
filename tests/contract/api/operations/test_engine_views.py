"""Reads of the engines' views: shared by those who look at them."""

import asyncio

import pytest

from api.common.errors import ServiceUnavailable
from api.operations.engine_views import CACHE_S, EngineViews
from tests.harness.until import until
from wire.cluster import Engines


class Reads:
    """Reads that end when the test lets them, and a clock that the test sets."""

    def __init__(self) -> None:
        self.count = 0
        self.now_s = 100.0
        self.error: Exception | None = None
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.views = EngineViews(self.read, lambda: self.now_s)

    async def read(self) -> Engines:
        """Return views with the number of the read."""
        self.count += 1
        await self.may_end.wait()
        if self.error is not None:
            raise self.error
        return Engines((), (str(self.count),))


async def test_requests_at_once_share_a_read() -> None:
    """One that is cancelled fails no other."""
    reads = Reads()
    reads.may_end.clear()
    asking = [asyncio.create_task(reads.views.get()) for _ in range(3)]
    await until(lambda: reads.count == 1, what="the read")
    asking[0].cancel()
    reads.may_end.set()
    found = await asyncio.gather(*asking, return_exceptions=True)
    assert isinstance(found[0], asyncio.CancelledError)
    assert found[1:] == [Engines((), ("1",))] * 2


async def test_a_result_is_kept_for_a_second() -> None:
    """Then the engines are read again."""
    reads = Reads()
    for _ in range(3):
        assert (await reads.views.get()).unowned == ("1",)
    reads.now_s += CACHE_S
    assert (await reads.views.get()).unowned == ("2",)


async def test_an_error_is_not_kept() -> None:
    """The next request tries again, and gets the present state."""
    reads = Reads()
    reads.error = ServiceUnavailable("no engine")
    with pytest.raises(ServiceUnavailable):
        await reads.views.get()
    reads.error = None
    assert (await reads.views.get()).unowned == ("2",)
