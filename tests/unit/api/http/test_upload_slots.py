"""Which uploads give way when there is no slot."""

from contextlib import AsyncExitStack

import pytest

from api.common.errors import ServiceUnavailable, TooManyRequests
from api.http.upload_slots import (
    MAX_UPLOADS,
    MAX_UPLOADS_OF_ACCOUNT,
    PATIENCE_S,
    Upload,
    UploadSlots,
)


class Uploads:
    """Uploads that last until the test ends; `now_s` is their clock."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self.now_s = 0.0
        self.slots = UploadSlots(lambda: self.now_s)
        self._stack = stack

    async def add(self, *accounts: str) -> list[Upload]:
        return [await self._stack.enter_async_context(self.slots.slot(each)) for each in accounts]


async def test_an_account_has_few() -> None:
    async with AsyncExitStack() as stack:
        uploads = Uploads(stack)
        await uploads.add(*["acme"] * MAX_UPLOADS_OF_ACCOUNT)
        with pytest.raises(TooManyRequests, match="at most 4 uploads of an account"):
            await uploads.add("acme")
    assert uploads.slots.total == 0


async def test_the_first_of_an_account_with_most_gives_way() -> None:
    """Also to the second upload of another account, not to its third."""
    async with AsyncExitStack() as stack:
        uploads = Uploads(stack)
        held = await uploads.add(*"aaaa", *"bbbb")
        assert len(held) == MAX_UPLOADS
        await uploads.add("c", "c")
        with pytest.raises(ServiceUnavailable):
            await uploads.add("c")
        assert [each.gave_way for each in held] == [
            *(True, False, False, False),
            *(True, False, False, False),
        ]


async def test_accounts_with_one_give_way_after_a_minute() -> None:
    """Not sooner, and not once they are received."""
    async with AsyncExitStack() as stack:
        uploads = Uploads(stack)
        held = await uploads.add(*"abcdefgh")
        with pytest.raises(ServiceUnavailable):
            await uploads.add("i")
        uploads.now_s = PATIENCE_S
        async with held[0].receiving():
            pass
        await uploads.add("i")
        with pytest.raises(ServiceUnavailable):
            await uploads.add("i")
        assert [each.gave_way for each in held[1:]] == [True, *[False] * 6]
