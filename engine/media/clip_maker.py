"""Make a clip out of a source: download or speak it, then transcode it."""

import asyncio
import io
import math
import struct
import wave
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import perf_counter

from aiohttp import ClientSession

from engine.media.clip import SAMPLE_RATE_HZ, Clip, MadeClip, MediaError, MediaLimits
from engine.media.clip_cache import ClipMakerPort
from engine.media.download import download
from engine.media.files import ClipFiles
from engine.media.tts.provider import TtsProvider, rank_providers, synthesize
from engine.media.worker.process import Worker
from engine.media.worker.protocol import Transcode
from engine.media.worker.sniff import Container
from engine.observe.metrics import Meter
from wire.media import Audio, Source, Speech, Tone

LARGE_BYTES = 262_144  # some 15 s of mp3; 16 s of telephone wav


class ClipMaker:
    """Everything that takes time, or a stranger's data, to make a clip."""

    def __init__(
        self,
        shelf: ClipFiles,
        session: ClientSession,
        speakers: Sequence[TtsProvider],
        limits: MediaLimits,
    ) -> None:
        self.transcoder = Worker(limits)
        self._large = Worker(limits)
        self._shelf = shelf
        self._session = session
        self._speakers = speakers
        self._limits = limits

    async def make(self, source: Source, etag: str, now_ms: int) -> MadeClip:
        """Make a clip, unless nothing changed at its address since `etag`; raises MediaFailed."""
        try:
            match source:
                case Audio(url):
                    return await self._fetched(url, etag, now_ms)
                case Speech():
                    return await self._spoken(source, now_ms)
                case Tone():
                    return MadeClip(await self._clip(beep(source), now_ms), None)
        except OSError as error:
            raise MediaError("not_stored", str(error)) from error

    def first_speaker(self, speech: Speech) -> str:
        """Name who would speak a text if all goes well."""
        return next((speaker.name for speaker in rank_providers(self._speakers, speech)), "")

    async def close(self) -> None:
        """End the processes."""
        await self.transcoder.close()
        await self._large.close()
        for speaker in self._speakers:
            await speaker.close()

    async def _fetched(self, url: str, etag: str, now_ms: int) -> MadeClip:
        async with self._part() as raw:
            got = await download(self._session, url, etag, raw, self._limits)
            clip = await self._transcoded(raw, got.kind, now_ms) if got.kind else None
        return MadeClip(clip, got.fresh_ms, got.etag or etag)

    async def _spoken(self, speech: Speech, now_ms: int) -> MadeClip:
        wav, speaker = await synthesize(self._speakers, speech)
        clip = await self._clip(wav, now_ms)
        # A substitute's speech is tried again with the right speaker after a while.
        fresh_ms = None if speaker == self.first_speaker(speech) else self._limits.fresh_ms
        return MadeClip(clip, fresh_ms, speaker=speaker)

    async def _clip(self, wav: bytes, now_ms: int) -> Clip:
        async with self._part() as raw:
            await asyncio.to_thread(raw.write_bytes, wav)
            return await self._transcoded(raw, "wav", now_ms)

    async def _transcoded(self, raw: Path, kind: Container, now_ms: int) -> Clip:
        async with self._part() as part:
            job = Transcode(str(raw), kind, str(part), self._limits.clip_ms)
            size = (await asyncio.to_thread(raw.stat)).st_size
            await self._worker(size).run(job)
            return await self._shelf.keep(part, now_ms)

    def _worker(self, size_bytes: int) -> Worker:
        # Long files queue behind each other, never before the prompts that callers wait for.
        return self._large if size_bytes > LARGE_BYTES else self.transcoder

    @asynccontextmanager
    async def _part(self) -> AsyncIterator[Path]:
        part = self._shelf.part()
        async with AsyncExitStack() as cleaning:
            cleaning.push_async_callback(asyncio.to_thread, part.unlink, missing_ok=True)
            yield part


AMPLITUDE = 8_000  # a quarter of what is possible: to be heard, not to be startled by


def beep(tone: Tone) -> bytes:
    """Make a tone of 16 bits, mono."""
    count = SAMPLE_RATE_HZ * tone.duration_ms // 1000
    turn = 2 * math.pi * tone.hz / SAMPLE_RATE_HZ
    samples = (round(AMPLITUDE * math.sin(turn * each)) for each in range(count))
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE_HZ)
        file.writeframes(struct.pack(f"<{count}h", *samples))
    return out.getvalue()


class MeteredClipMaker:
    """A maker whose clips are timed and counted."""

    def __init__(self, maker: ClipMakerPort, meter: Meter) -> None:
        self._maker = maker
        self._counts = meter.outside

    async def make(self, source: Source, etag: str, now_ms: int) -> MadeClip:
        """Make a clip; raises MediaFailed."""
        kind = "audio" if isinstance(source, Audio) else "speech"
        began_s = perf_counter()
        try:
            made = await self._maker.make(source, etag, now_ms)
        except MediaError as failure:
            self._counts.media_faults.of(kind)[failure.reason] += 1
            self._counts.media.of(kind, "failed").observe(perf_counter() - began_s)
            raise
        self._counts.media.of(kind, "made").observe(perf_counter() - began_s)
        return made

    async def close(self) -> None:
        """End what it runs."""
        await self._maker.close()
