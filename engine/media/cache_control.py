"""How long a fetched clip may be played before its address is asked again (RFC 9111, 5.2.2)."""

import re

_MAX_AGE = re.compile(r"\bmax-age\s*=\s*\"?(\d{1,9})")
_ASK_FIRST = re.compile(r"\bno-(cache|store)\b")
_LONGEST_MS = 7 * 24 * 3_600_000


def fresh_ms(cache_control: str, default_ms: int, shortest_ms: int) -> int:
    """Read a Cache-Control header; at least `shortest_ms`, for a no-store clip is played too."""
    rule = cache_control.lower()
    if _ASK_FIRST.search(rule):
        return shortest_ms
    if found := _MAX_AGE.search(rule):
        return max(shortest_ms, min(int(found[1]) * 1000, _LONGEST_MS))
    return default_ms
