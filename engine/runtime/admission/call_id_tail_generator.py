"""Generates the ids of new calls."""

import os
from collections.abc import Callable


class CallIdTails:
    """Generates the last parts of call ids: unique, and sortable by time."""

    def __init__(self, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        self._random_bytes = random_bytes

    def new(self, now_ms: int) -> str:
        return f"{now_ms:011x}{self._random_bytes(6).hex()}"
