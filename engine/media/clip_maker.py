"""Makes a clip from a source: downloads or synthesizes it, then transcodes it."""

import asyncio
import io
import math
import struct
import wave
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import perf_counter
from urllib.parse import urlsplit

import structlog
from aiohttp import ClientSession
from msgspec.structs import replace

from base.fair_slots import FairSlots
from base.lookups import connecting_for
from engine.media.clip import (
    SAMPLE_RATE_HZ,
    MadeClip,
    MediaError,
    MediaLimits,
    OwnedSource,
)
from engine.media.clip_cache import ClipMakerPort
from engine.media.download import download
from engine.media.files import ClipFiles
from engine.media.tts import TtsProvider, rank_providers, synthesize
from engine.media.worker.process import WorkerPool
from engine.media.worker.protocol import Transcode
from engine.media.worker.sniff import Container
from engine.observe.metrics import Metrics
from wire.media import Audio, Speech, Tone

log = structlog.get_logger()
LARGE_BYTES = 262_144  # some 15 s of mp3; 16 s of telephone wav
AMPLITUDE = 8_000  # a quarter of full scale: audible, not startling

SessionLookup = Callable[[str], ClientSession]


class ClipMaker:
    """Makes clips: does the slow work, and the work on untrusted data."""

    def __init__(
        self,
        files: ClipFiles,
        session_of: SessionLookup,
        providers: Sequence[TtsProvider],
        limits: MediaLimits,
    ) -> None:
        self.transcoder = WorkerPool(limits, files.directory)
        self._large_files = WorkerPool(limits, files.directory)
        self._downloads = FairSlots(limits.downloads, limits.downloads_of_account)
        self._files = files
        self._session_of = session_of  # of an account: a guarded one
        self._providers = providers
        self._limits = limits

    async def make(self, owned: OwnedSource, etag: str, now_ms: int) -> MadeClip:
        account = owned.account
        try:
            match owned.source:
                case Audio(url):
                    return await self._download(account, url, etag, now_ms)
                case Speech() as speech:
                    return await self._synthesize(account, speech, now_ms)
                case Tone() as tone:
                    return await self._from_wav(account, beep(tone), now_ms)
        except OSError as error:
            log.warning("clip not stored", error=str(error))
            raise MediaError("not_stored", error.strerror or "the disk can't be used") from error

    def first_provider(self, speech: Speech) -> str:
        """Return the name of the preferred provider for a text."""
        return next((each.name for each in rank_providers(self._providers, speech)), "")

    async def close(self) -> None:
        await self.transcoder.close()
        await self._large_files.close()
        for provider in self._providers:
            await provider.close()

    async def _download(self, account: str, url: str, etag: str, now_ms: int) -> MadeClip:
        async with self._temporary_file() as raw:
            async with self._downloads.slot(account):
                session = self._session_of(account)
                with connecting_for(account):
                    result = await download(session, url, etag, raw, self._limits)
            kind = result.kind
            unchanged = MadeClip(None, None)
            made = await self._transcode(account, raw, kind, now_ms) if kind else unchanged
        if made.is_silent:  # its address may be a secret
            log.info("audio is silent", account=account, host=urlsplit(url).hostname)
        # Of new audio, the ETag before would be wrong: a 304 for it means other audio.
        new_etag = result.etag if kind else result.etag or etag
        return replace(made, fresh_ms=result.fresh_ms, etag=new_etag)

    async def _synthesize(self, account: str, speech: Speech, now_ms: int) -> MadeClip:
        wav, provider = await synthesize(self._providers, account, speech)
        made = await self._from_wav(account, wav, now_ms)
        # Speech by a substitute is retried with the preferred provider after a while.
        fresh_ms = None if provider == self.first_provider(speech) else self._limits.fresh_ms
        return replace(made, fresh_ms=fresh_ms, provider=provider)

    async def _from_wav(self, account: str, wav: bytes, now_ms: int) -> MadeClip:
        async with self._temporary_file() as raw:
            await asyncio.to_thread(raw.write_bytes, wav)
            return await self._transcode(account, raw, "wav", now_ms)

    async def _transcode(self, account: str, raw: Path, kind: Container, now_ms: int) -> MadeClip:
        async with self._temporary_file() as clip:
            job = Transcode(str(raw), kind, str(clip), self._limits.clip_ms)
            size = (await asyncio.to_thread(raw.stat)).st_size
            done = await self._workers_for(size).run(account, job)
            added = await self._files.add(clip, now_ms)
            return MadeClip(added, None, is_silent=done.is_silent)

    def _workers_for(self, size_bytes: int) -> WorkerPool:
        # Large files have their own workers: they never delay the prompts that callers wait for.
        return self._large_files if size_bytes > LARGE_BYTES else self.transcoder

    @asynccontextmanager
    async def _temporary_file(self) -> AsyncIterator[Path]:
        part = self._files.new_part()
        async with AsyncExitStack() as stack:
            stack.push_async_callback(asyncio.to_thread, part.unlink, missing_ok=True)
            yield part


def beep(tone: Tone) -> bytes:
    """Return a WAV file with a sine tone (16 bits, mono)."""
    count = SAMPLE_RATE_HZ * tone.duration_ms // 1000
    step = 2 * math.pi * tone.hz / SAMPLE_RATE_HZ
    samples = (round(AMPLITUDE * math.sin(step * n)) for n in range(count))
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE_HZ)
        file.writeframes(struct.pack(f"<{count}h", *samples))
    return out.getvalue()


class MeteredClipMaker:
    """Wraps a clip maker and records its durations and errors as metrics."""

    def __init__(self, maker: ClipMakerPort, meter: Metrics) -> None:
        self._maker = maker
        self._metrics = meter.external

    async def make(self, owned: OwnedSource, etag: str, now_ms: int) -> MadeClip:
        kind = "audio" if isinstance(owned.source, Audio) else "speech"
        started_s = perf_counter()
        try:
            made = await self._maker.make(owned, etag, now_ms)
        except MediaError as failure:
            self._metrics.media_failures.table(kind)[failure.reason] += 1
            self._metrics.media_duration.series(kind, "failed").observe(perf_counter() - started_s)
            raise
        self._metrics.media_duration.series(kind, "made").observe(perf_counter() - started_s)
        return made

    async def close(self) -> None:
        await self._maker.close()
