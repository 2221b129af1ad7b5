"""How many large uploads a process receives at once: each lies on its disk until it is stored."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from api.common.errors import ServiceUnavailable, TooManyRequests
from base.limit import Limit

MAX_UPLOADS: Annotated[
    int,
    Limit(
        "process",
        "503 `unavailable`",
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


class UploadSlots:
    def __init__(self) -> None:
        self._uploads: Counter[str] = Counter()  # by account

    @property
    def held(self) -> int:
        """The number of uploads in work."""
        return self._uploads.total()

    @contextmanager
    def hold(self, account_id: str) -> Iterator[None]:
        """Count an upload for as long as the context lasts.

        Raises TooManyRequests for more than an account may have, ServiceUnavailable for more than
        the process has room for.
        """
        if self._uploads[account_id] >= MAX_UPLOADS_OF_ACCOUNT:
            text = f"at most {MAX_UPLOADS_OF_ACCOUNT} uploads at once"
            raise TooManyRequests(text, "too_many_uploads", retry_after_s=RETRY_AFTER_S)
        if self.held >= MAX_UPLOADS:
            text = "this server receives too many uploads at the moment"
            raise ServiceUnavailable(text, retry_after_s=RETRY_AFTER_S)
        self._uploads[account_id] += 1
        try:
            yield
        finally:
            self._uploads[account_id] -= 1
            if not self._uploads[account_id]:
                del self._uploads[account_id]
