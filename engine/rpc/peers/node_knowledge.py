"""Asks the other engines what they know of PBX nodes to which this one was not connected."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

import aiohttp
import msgspec
import structlog
from msgspec import Struct
from yarl import URL

from engine.calls.model.events import DigitPressed
from engine.rpc.peers.client import PeerClient
from engine.runtime.agents.phone_logins import PhoneReports
from engine.runtime.cluster.membership import Membership
from engine.runtime.io.digit_sealer import DigitSealer, UnreadableDigits
from wire import rpc
from wire.decoding.messages import decode_message

T = TypeVar("T")
log = structlog.get_logger()
DIGITS_TIMEOUT_S = 0.3  # a takeover waits for it
MAX_HEARERS = 3  # of a node: two of them may have died a moment ago, or lost the store
PHONES_TIMEOUT_S = 2.0
POLL_INTERVAL_S = 1.0
_DIGITS, _PHONES = URL("/rpc/v1/peers/digits"), URL("/rpc/v1/peers/phones")


class NodeKnowledge(Struct, frozen=True):
    """What the other engines know of nodes."""

    peers: Membership
    client: PeerClient
    sealer: DigitSealer
    offset_ms: Callable[[], int]  # how far this engine's clock is ahead of the store's

    async def digits(self, node: str, legs: Sequence[str]) -> Sequence[DigitPressed]:
        """Return the recent digits of some legs, as other engines have heard them."""
        urls = self.peers.hearers(node)[:MAX_HEARERS]
        body = msgspec.json.encode(rpc.GetDigits(node, tuple(legs)))
        requests = (self._ask("POST", url, _DIGITS, rpc.HeardDigits, body) for url in urls)
        answers = await asyncio.gather(*requests)
        return tuple(chain.from_iterable(map(self._opened, filter(None, answers))))

    async def run(self, reports: PhoneReports) -> None:
        """Read the reports of phones that have changed, until cancelled."""
        read: dict[str, int] = {}
        while True:
            revisions = dict(self.peers.phone_revisions)
            read = {url: each for url, each in read.items() if url in revisions}
            for url in [url for url, each in revisions.items() if read.get(url) != each]:
                report = await self._ask("GET", url, _PHONES, rpc.PhoneReport)
                if report is not None:
                    reports.learn(report)
                    read[url] = revisions[url]
            await asyncio.sleep(POLL_INTERVAL_S)

    async def _ask(
        self, method: str, url: str, path: URL, shape: type[T], body: bytes = b""
    ) -> T | None:
        timeout_s = DIGITS_TIMEOUT_S if body else PHONES_TIMEOUT_S
        headers = {"Content-Type": "application/json"} if body else {}
        try:
            async with (
                asyncio.timeout(timeout_s),
                self.client.request(method, url, path, body, headers) as response,
            ):
                response.raise_for_status()
                return decode_message(await response.read(), shape)
        except (aiohttp.ClientError, TimeoutError, msgspec.DecodeError) as error:
            log.warning(
                "engine not reached", url=url, path=str(path), error=str(error) or "timeout"
            )
            return None

    def _opened(self, heard: rpc.HeardDigits) -> Iterator[DigitPressed]:
        offset_ms = self.offset_ms()
        for each in heard.digits:
            try:
                digit = self.sealer.open(each.leg, each.digit)
            except UnreadableDigits:
                continue  # the engines have different tokens while these change
            yield DigitPressed(
                each.leg,
                digit,
                each.pressed_ms + offset_ms,
                each.held_ms,
                each.pbx_ms,
                missed=True,
            )
