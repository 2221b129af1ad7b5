"""Limits failed authentications; whoever presents a valid key is always served.

Keys are 256 random bits, so guessing is hopeless; what is limited is what guesses cost.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

from api.common.bounded_dict import BoundedDict
from api.common.clock import Clock
from api.common.errors import ServiceUnavailable, TooManyRequests, Unauthenticated

NOT_AUTHENTICATED = "User not authenticated"
MAX_FAILURES = 10
WINDOW_MS = 60_000
MAX_LOOKUPS = 4  # of unknown keys at once, by one network that fails often
MAX_WAITING = 100  # further ones
IPV6_PREFIX_BITS = 64  # what one customer of a provider has


class Throttle:
    """Counts failures by network, in windows of a minute, in this process only."""

    def __init__(self, now_ms: Clock) -> None:
        self._now_ms = now_ms
        self._failures: BoundedDict[str, tuple[int, int]] = BoundedDict()  # end of window, count
        self._waiting: Counter[str] = Counter()
        self._turns: dict[str, asyncio.Semaphore] = {}

    def record_failure(self, address: str) -> None:
        """Count a failure."""
        now_ms = self._now_ms()
        network = network_of(address)
        until_ms, count = self._failures.get(network) or (0, 0)
        if until_ms <= now_ms:
            until_ms, count = now_ms + WINDOW_MS, 0
        self._failures.put(network, (until_ms, count + 1))

    def refuse(self, address: str) -> ServiceUnavailable | TooManyRequests | Unauthenticated:
        """Count a failed request for a token; return its error: 429 after many failures."""
        left_ms = self._left_ms(network_of(address))
        self.record_failure(address)
        if not left_ms:
            return Unauthenticated(NOT_AUTHENTICATED)
        return TooManyRequests(
            "too many failures to authenticate", retry_after_s=-(-left_ms // 1_000)
        )

    @asynccontextmanager
    async def lookup(self, address: str) -> AsyncIterator[None]:
        """Let a network that fails often look up few keys at once; raises ServiceUnavailable."""
        network = network_of(address)
        if not self._left_ms(network):
            yield
            return
        if self._waiting[network] >= MAX_LOOKUPS + MAX_WAITING:
            raise ServiceUnavailable("too many attempts to authenticate", retry_after_s=1)
        turns = self._turns.setdefault(network, asyncio.Semaphore(MAX_LOOKUPS))
        self._waiting[network] += 1
        try:
            async with turns:
                yield
        finally:
            self._waiting[network] -= 1
            if not self._waiting[network]:
                del self._waiting[network], self._turns[network]

    def _left_ms(self, network: str) -> int:
        until_ms, count = self._failures.get(network) or (0, 0)
        return max(0, until_ms - self._now_ms()) if count >= MAX_FAILURES else 0


@lru_cache(4_096)  # each new connection asks for those of all that are open
def network_of(address: str) -> str:
    """Return an IPv4 address, or the /64 of an IPv6 address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address  # a test client's name
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Address(int(parsed) >> IPV6_PREFIX_BITS << IPV6_PREFIX_BITS))
