"""Makes a clip from a source: downloads or synthesizes it, then transcodes it."""

import asyncio
import io
import math
import re
import struct
import wave
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import monotonic, perf_counter
from typing import BinaryIO
from urllib.parse import urlsplit

import structlog
from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
)
from msgspec import Struct
from msgspec.structs import replace
from yarl import URL

from base.fair_slots import FairSlots
from base.http_client import exact_url, failure_word
from base.lookups import connecting_for
from base.loop_cost import TokenBucket
from engine.media.clip import (
    SAMPLE_RATE_HZ,
    MadeClip,
    MediaError,
    MediaLimits,
    OwnedSource,
)
from engine.media.clip_cache import ClipMakerPort
from engine.media.files import ClipFiles
from engine.media.tts import TtsProvider, rank_providers, synthesize
from engine.media.worker.process import WorkerPool
from engine.media.worker.protocol import Transcode
from engine.media.worker.sniff import HEAD_BYTES, Container, detect_container
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
        self._paces: dict[str, TokenBucket] = {}  # of downloads, by account
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
                    result = await download(
                        session, url, etag, raw, self._limits, pace=self._pace_of(account)
                    )
            kind = result.kind
            unchanged = MadeClip(None, None)
            made = await self._transcode(account, raw, kind, now_ms) if kind else unchanged
        if made.is_silent:  # its address may be a secret
            log.info("audio is silent", account=account, host=urlsplit(url).hostname)
        # Of new audio, the ETag before would be wrong: a 304 for it means other audio.
        new_etag = result.etag if kind else result.etag or etag
        return replace(made, fresh_ms=result.fresh_ms, etag=new_etag)

    def _pace_of(self, account: str) -> TokenBucket:
        if account not in self._paces:
            rate = float(self._limits.download_bytes_per_s)
            self._paces[account] = TokenBucket(rate, lambda: rate, monotonic)
        return self._paces[account]

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


_MAX_AGE = re.compile(r"\bmax-age\s*=\s*\"?(\d{1,9})")
_MUST_REVALIDATE = re.compile(r"\bno-(cache|store)\b")
_MAX_FRESH_MS = 7 * 24 * 3_600_000
_WRITE_BYTES = 1 << 20
NOT_MODIFIED = 304
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MAX_REDIRECTS = 5


def fresh_ms(cache_control: str, default_ms: int, min_ms: int) -> int:
    """Return how long a Cache-Control header allows; at least `min_ms`, also for no-store."""
    rule = cache_control.lower()
    if _MUST_REVALIDATE.search(rule):
        return min_ms
    if found := _MAX_AGE.search(rule):
        return max(min_ms, min(int(found[1]) * 1000, _MAX_FRESH_MS))
    return default_ms


def usable_etag(etag: str) -> str:
    """Return an ETag that can be stored and sent back; empty for any other.

    It is visible ASCII (RFC 9110, section 8.8.3). Other bytes, which are obsolete there, may be in
    no encoding.
    """
    return etag if etag.isascii() and etag.isprintable() else ""


class DownloadResult(Struct, frozen=True):
    """The container (None: not modified), the ETag, and how long the audio is fresh."""

    kind: Container | None
    etag: str
    fresh_ms: int


async def download(  # noqa: PLR0913 - what downloads share, too
    session: ClientSession,
    url: str,
    etag: str,
    target: Path,
    limits: MediaLimits,
    *,
    pace: TokenBucket,
) -> DownloadResult:
    """Download audio into `target`, unless its ETag is still `etag`; raises MediaError.

    What arrives faster than the pace of all that spend its bytes waits at its server.
    """
    try:
        async with (
            asyncio.timeout(limits.download_s),
            _final_response(session, exact_url(url), _headers(etag), limits) as response,
        ):
            _check_status(response)
            is_new = response.status != NOT_MODIFIED
            kind = await _save(response, target, limits, pace) if is_new else None
            rule = response.headers.get("Cache-Control", "")
            freshness_ms = fresh_ms(rule, limits.fresh_ms, limits.retry_ms)
            new_etag = usable_etag(response.headers.get("ETag", ""))
            return DownloadResult(kind, new_etag, freshness_ms)
    except TimeoutError:
        raise MediaError("timeout", f"no audio within {limits.download_s:g} s") from None
    except ValueError as error:  # of an address, perhaps of a redirect: its host or its port
        raise MediaError("refused_address", f"not a valid address: {error}") from None
    except ClientError as error:
        raise _to_media_error(error) from None


@asynccontextmanager
async def _final_response(
    session: ClientSession, url: URL, headers: dict[str, str], limits: MediaLimits
) -> AsyncIterator[ClientResponse]:
    """Follow redirects, as storage services send them; the session guards each connection."""
    timeout = ClientTimeout(total=None, sock_connect=limits.connect_s)
    for _ in range(1 + MAX_REDIRECTS):
        async with session.get(
            url,
            allow_redirects=False,  # aiohttp would change the characters of a signed address
            timeout=timeout,
            headers=headers,
            auto_decompress=False,  # audio is not compressed; this would block the event loop
        ) as response:
            if response.status not in REDIRECTS:
                yield response
                return
            url = _redirected(response, url)
    raise MediaError("redirect", f"more than {MAX_REDIRECTS} redirects")


def _redirected(response: ClientResponse, url: URL) -> URL:
    location = response.headers.get("Location", "")
    target = url.join(exact_url(location))
    if not location or target.scheme not in {"https", url.scheme}:
        text = f"a redirect to {location or 'nowhere'} is not followed"
        raise MediaError("redirect", f"HTTP status {response.status}; {text}")
    return target


def _headers(etag: str) -> dict[str, str]:
    headers = {"Accept": "audio/*, */*;q=0.1", "Accept-Encoding": "identity"}
    return headers | ({"If-None-Match": etag} if etag else {})


def _check_status(response: ClientResponse) -> None:
    match response.status:
        case 200 | 304:
            return
        case 404 | 410 as status:
            raise MediaError("not_found", f"HTTP status {status}")
        case status:
            raise MediaError("http_status", f"HTTP status {status}")


async def _save(
    response: ClientResponse, target: Path, limits: MediaLimits, pace: TokenBucket
) -> Container:
    if (response.content_length or 0) > limits.download_bytes:
        raise _too_large(limits)
    with await asyncio.to_thread(target.open, "wb") as file:
        return await _copy(response, file, limits, pace)


async def _copy(
    response: ClientResponse, file: BinaryIO, limits: MediaLimits, pace: TokenBucket
) -> Container:
    head, kind, total, buffer = b"", None, 0, bytearray()
    async for chunk in response.content.iter_chunked(1 << 16):
        total += len(chunk)
        pace.spend(len(chunk))
        await asyncio.sleep(pace.wait_s())
        if total > limits.download_bytes:
            raise _too_large(limits)
        if len(head) < HEAD_BYTES:
            head = (head + chunk)[:HEAD_BYTES]
            kind = detect_container(head)
            if kind is None and len(head) == HEAD_BYTES:
                raise MediaError("not_audio", "not audio of a known format")
        buffer += chunk
        if len(buffer) > _WRITE_BYTES:
            await asyncio.to_thread(file.write, bytes(buffer))
            buffer.clear()
    await asyncio.to_thread(file.write, bytes(buffer))
    if kind is None:
        raise MediaError("not_audio", "not audio of a known format")
    return kind


def _too_large(limits: MediaLimits) -> MediaError:
    return MediaError("too_large", f"more than {limits.download_bytes} bytes")


def _to_media_error(error: ClientError) -> MediaError:
    # The address guard raises PermissionError; so does a local firewall.
    if isinstance(error, ClientConnectorError) and isinstance(error.os_error, PermissionError):
        return MediaError("refused_address", error.os_error.strerror or str(error.os_error))
    return MediaError("unreachable", failure_word(error))
