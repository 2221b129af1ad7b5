"""Names of headers: whose values the log masks, and which of a response it has."""

import re
from functools import lru_cache

RESPONSE_HEADERS = frozenset({
    "content-type", "content-length", "content-encoding", "date", "location", "retry-after",
    "server", "traceparent", "www-authenticate", "x-request-id",
})  # fmt: skip
MAX_NAMES = 1_000  # of headers, whose treatment is remembered
_SECRET_NAME = re.compile(
    r"auth|cookie|credential|key|passw|secret|session|sha256|signature|token", re.IGNORECASE
)
_SHOWN_NAMES = frozenset({"idempotency-key"})  # of those that look like a secret


@lru_cache(MAX_NAMES)
def is_secret(header: str) -> bool:
    """Return whether a header's value is masked, judging by its name."""
    return header.lower() not in _SHOWN_NAMES and _SECRET_NAME.search(header) is not None


@lru_cache(MAX_NAMES)
def is_kept(header: str) -> bool:
    """Return whether the log has this header of a response."""
    return header.lower() in RESPONSE_HEADERS
