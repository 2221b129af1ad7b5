"""Large uploads at once; when too many wait for their bodies, those of others give way.

A body may arrive slowly. So a new upload takes the slot of an account that has more of them; an
upload that has been arriving for a minute gives way also to an account that has one fewer.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated

from api.common.errors import ServiceUnavailable, TooManyRequests
from base.limit import Limit

# Each upload lies on the disk of its process until it is stored.
MAX_UPLOADS: Annotated[
    int,
    Limit(
        "process",
        "one of an account with more gives way, with 503 `unavailable`",
        "Uploads of more than 1 MB that a process receives at once.",
    ),
] = 8
MAX_UPLOADS_OF_ACCOUNT: Annotated[
    int,
    Limit(
        "account",
        "429 `too_many_uploads`",
        "Uploads of more than 1 MB that a process receives at once.",
    ),
] = 4
RETRY_AFTER_S = 5
PATIENCE_S = 60.0


class Upload:
    """A large upload; while it is received, it may give way."""

    def __init__(self, account: str, now_s: float) -> None:
        self.account = account
        self.began_s = now_s
        self.is_received = False
        self.gave_way = False
        self._scope: asyncio.Timeout | None = None

    @asynccontextmanager
    async def receiving(self) -> AsyncIterator[None]:
        """Receive the body in the context; raises ServiceUnavailable if it gives way."""
        try:
            async with asyncio.timeout(None) as self._scope:
                yield
        except TimeoutError:
            text = "the upload gave way to those of other accounts"
            raise ServiceUnavailable(text, retry_after_s=RETRY_AFTER_S) from None
        finally:
            self.is_received = True

    def give_way(self) -> None:
        self.gave_way = True
        if self._scope is not None:
            self._scope.reschedule(asyncio.get_running_loop().time())


class UploadSlots:
    """The large uploads that a process receives or stores."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._uploads: list[Upload] = []  # the earliest first

    @property
    def total(self) -> int:
        return len(self._uploads)

    @asynccontextmanager
    async def slot(self, account: str) -> AsyncIterator[Upload]:
        """Use a slot for as long as the context lasts.

        Raises TooManyRequests for more than an account may have, and ServiceUnavailable if there is
        no slot and no upload gives way.
        """
        self._make_room(account)
        upload = Upload(account, self._monotonic())
        self._uploads.append(upload)
        try:
            yield upload
        finally:
            if upload in self._uploads:
                self._uploads.remove(upload)

    def _make_room(self, account: str) -> None:
        counts = Counter(each.account for each in self._uploads)
        if counts[account] >= MAX_UPLOADS_OF_ACCOUNT:
            text = f"at most {MAX_UPLOADS_OF_ACCOUNT} uploads of an account at once"
            raise TooManyRequests(text, "too_many_uploads", retry_after_s=RETRY_AFTER_S)
        if len(self._uploads) < MAX_UPLOADS:
            return
        young_s = self._monotonic() - PATIENCE_S

        def may_replace(other: Upload) -> bool:
            more = counts[other.account] - counts[account]
            return not other.is_received and more > (1 if other.began_s > young_s else 0)

        others = [each for each in self._uploads if may_replace(each)]
        if not others:
            text = "this server has too many uploads at the moment"
            raise ServiceUnavailable(text, retry_after_s=RETRY_AFTER_S)
        replaced = max(others, key=lambda each: counts[each.account])
        replaced.give_way()
        self._uploads.remove(replaced)
