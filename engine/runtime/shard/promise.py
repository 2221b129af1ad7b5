"""What somebody waits for: that a desk has stored what was asked of it."""

import asyncio

from engine.store.errors import StoreDown

STORED_WITHIN_S = 5


class Promise:
    """Kept when it is stored, broken when the desk has given its calls up before."""

    def __init__(self) -> None:
        self._is_stored = False
        self._is_decided = asyncio.Event()

    def stored(self) -> None:
        """Keep it."""
        self._is_stored = True
        self._is_decided.set()

    def broken(self) -> None:
        """Let nobody wait for it any more: it may have been done, or may not."""
        self._is_decided.set()

    async def kept(self, otherwise: str) -> None:
        """Wait until it is; raises StoreDown when it is not, or that takes long."""
        try:
            async with asyncio.timeout(STORED_WITHIN_S):
                await self._is_decided.wait()
        except TimeoutError:
            raise StoreDown(otherwise) from None
        if not self._is_stored:
            raise StoreDown(otherwise)
