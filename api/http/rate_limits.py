"""The headers that say how many requests an account may still send.

They are those of draft-ietf-httpapi-ratelimit-headers. The bucket is that of one process.
"""

from math import ceil

from api.common.token_buckets import Rate

Headers = tuple[tuple[bytes, bytes], ...]


def rate_limit_headers(rate: Rate, left: float) -> Headers:
    """Return the limit, and what is left of it."""
    refill_s = ceil(rate.burst / rate.per_s)
    full_s = ceil((rate.burst - left) / rate.per_s)
    return (
        (b"ratelimit-policy", f'"requests";q={int(rate.burst)};w={refill_s}'.encode()),
        (b"ratelimit", f'"requests";r={int(left)};t={full_s}'.encode()),
    )
