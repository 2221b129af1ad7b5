"""Shared parts of the media contract tests: sounds, a faulty origin server, measurements."""

import asyncio
import io
import wave
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import av
import numpy as np
from aiohttp import ClientSession, web
from aiohttp.test_utils import BaseTestServer
from av.audio.stream import AudioStream

from engine.media.clip import MediaLimits
from engine.media.clip_cache import ClipCache
from engine.media.open import open_clip_cache
from engine.media.tts import TtsProvider
from wire.media import Audio

LIMITS = MediaLimits(download_bytes=1_000_000, download_s=2, connect_s=2, clip_ms=20_000)
FORMATS = {
    "wav": ("wav", "pcm_s16le", "s16"),
    "rf64": ("wav", "pcm_s16le", "s16"),
    "alaw.wav": ("wav", "pcm_alaw", "s16"),
    "mp3": ("mp3", "libmp3lame", "fltp"),
    "ogg": ("ogg", "vorbis", "fltp"),
    "opus": ("ogg", "libopus", "flt"),
    "flac": ("flac", "flac", "s16"),
    "m4a": ("mp4", "aac", "fltp"),
    "webm": ("webm", "libopus", "flt"),
    "aac": ("adts", "aac", "fltp"),
    "aiff": ("aiff", "pcm_s16be", "s16"),
    "au": ("au", "pcm_s16be", "s16"),
    "mp2": ("mp2", "mp2", "s16"),
    "caf": ("caf", "pcm_s16le", "s16"),
}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def sound(
    kind: str,
    tone_hz: float = 440,
    length_s: float = 1.0,
    rate_hz: int = 48_000,
    channels: int = 2,
) -> bytes:
    """Return a tone at half of full scale, in a format."""
    layout = "stereo" if channels == 2 else "mono"
    container, codec, sample_format = FORMATS[kind]
    times_s = np.arange(int(length_s * rate_hz)) / rate_hz
    mono = (16_384 * np.sin(2 * np.pi * tone_hz * times_s)).astype(np.int16)
    frame = av.AudioFrame.from_ndarray(np.repeat(mono, channels).reshape(1, -1), "s16", layout)
    frame.sample_rate = rate_hz
    file = io.BytesIO()
    options = {"rf64": "always"} if kind == "rf64" else {}
    with av.open(file, "w", format=container, options=options) as out:
        stream = out.add_stream(codec, rate=rate_hz, layout=layout, format=sample_format)
        assert isinstance(stream, AudioStream)
        stream.codec_context.options = {"strict": "experimental"}  # FFmpeg's own vorbis encoder
        resampler = av.AudioResampler(sample_format, layout, rate_hz, stream.frame_size)
        for part in [*resampler.resample(frame), *resampler.resample(None)]:
            out.mux(stream.encode(part))
        out.mux(stream.encode(None))
    return file.getvalue()


class Origin:
    """A customer's server that records its requests."""

    def __init__(self) -> None:
        self.bodies: dict[str, tuple[bytes, dict[str, str]]] = {}
        self.handlers: dict[str, Handler] = {}
        self.requests: list[tuple[str, str]] = []

    async def respond(self, request: web.Request) -> web.StreamResponse:
        """Return the body or run the handler of a path; else 404."""
        name = request.match_info["name"]
        self.requests.append((name, request.headers.get("If-None-Match", "")))
        if handler := self.handlers.get(name):
            return await handler(request)
        if name not in self.bodies:
            raise web.HTTPNotFound
        body, headers = self.bodies[name]
        if headers.get("ETag") and request.headers.get("If-None-Match") == headers["ETag"]:
            return web.Response(status=304, headers=headers)
        return web.Response(body=body, headers=headers)


class MediaScene:
    """An origin server, a guarded session, and a clock that the test sets."""

    def __init__(self, origin: Origin, server: BaseTestServer, session: ClientSession) -> None:
        self.origin = origin
        self.session = session
        self.now_ms = 0
        self._server = server

    def source_at(self, name: str) -> Audio:
        """Return a source at the origin server."""
        return Audio(f"{self._server.make_url('/')}{name}")

    @asynccontextmanager
    async def open_cache(
        self, directory: Path, *providers: TtsProvider, limits: MediaLimits = LIMITS
    ) -> AsyncIterator[ClipCache]:
        """Open a clip cache that downloads through the address guard."""
        async with open_clip_cache(
            directory, lambda _account: self.session, providers, lambda: self.now_ms, limits
        ) as cache:
            yield cache


def samples(file: Path) -> np.ndarray:
    """Read a clip's samples and check its format: 44 bytes of header, 8 kHz, mono, 16 bits."""
    data = file.read_bytes()
    with wave.open(io.BytesIO(data)) as wav:
        assert wav.getparams()[:3] == (1, 2, 8000)
        assert wav.getnframes() * 2 == len(data) - 44
    assert data[36:40] == b"data"
    return np.frombuffer(data[44:], np.int16).astype(float)


def level_db(signal_: np.ndarray, tone_hz: float) -> float:
    """Measure a tone in an 8 kHz signal, in dB of full scale."""
    times_s = np.arange(len(signal_)) / 8000
    part = abs(np.mean(signal_ * np.exp(-2j * np.pi * tone_hz * times_s))) * 2 / 32_768
    return float(20 * np.log10(part + 1e-9))


async def redirect(_: web.Request) -> web.StreamResponse:
    """Redirect to a metadata service."""
    raise web.HTTPFound("http://169.254.169.254/latest/meta-data/")


async def redirect_to_itself(request: web.Request) -> web.StreamResponse:
    raise web.HTTPFound(request.path)


async def redirect_to_no_port(_: web.Request) -> web.StreamResponse:
    return web.Response(status=302, headers={"Location": "http://127.0.0.1:65536/"})


async def redirect_to_no_host(_: web.Request) -> web.StreamResponse:
    return web.Response(status=302, headers={"Location": "http://[::1/"})


async def redirect_to_a_file(_: web.Request) -> web.StreamResponse:
    raise web.HTTPFound("file:///etc/passwd")


async def redirect_without_address(_: web.Request) -> web.StreamResponse:
    return web.Response(status=302)


async def fails(_: web.Request) -> web.StreamResponse:
    """Return status 500."""
    raise web.HTTPInternalServerError


async def huge(request: web.Request) -> web.StreamResponse:
    """Announce two gigabytes."""
    response = web.StreamResponse(headers={"Content-Length": str(2 << 30)})
    await response.prepare(request)
    await response.write(sound("wav"))
    return response


async def endless(request: web.Request) -> web.StreamResponse:
    """Send sound forever."""
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(sound("wav"))
    while True:
        await response.write(bytes(65_536))


async def drip(request: web.Request) -> web.StreamResponse:
    """Send a byte every 20 ms."""
    response = web.StreamResponse()
    await response.prepare(request)
    for byte in sound("wav"):
        await response.write(bytes([byte]))
        await asyncio.sleep(0.02)  # the origin's slowness is the subject
    return response


REFUSED: dict[str, tuple[bytes | Handler, str]] = {
    "500": (fails, "http_status"),
    "redirect": (redirect, "refused_address"),
    "circle": (redirect_to_itself, "redirect"),
    "file": (redirect_to_a_file, "redirect"),
    "port": (redirect_to_no_port, "refused_address"),
    "host": (redirect_to_no_host, "refused_address"),
    "nowhere": (redirect_without_address, "redirect"),
    "page": (b"<!doctype html><html><body>Not your file</body></html>" * 3, "not_audio"),
    "list.m3u8": (b"#EXTM3U\n#EXTINF:9,\nhttp://127.0.0.1/secret.mp3\n" * 3, "not_audio"),
    "list.ffconcat": (b"ffconcat version 1.0\nfile '/etc/passwd'\n" * 3, "not_audio"),
    "nothing": (b"", "not_audio"),
    "tag": (b"ID3" + bytes(200), "unreadable"),
    "header": (sound("wav")[:44], "unreadable"),
    "noise.ogg": (b"OggS" + bytes(range(256)) * 40, "unreadable"),
    "huge": (huge, "too_large"),
    "endless": (endless, "too_large"),
    "drip": (drip, "timeout"),
    "long": (sound("mp3", length_s=21, rate_hz=16_000), "too_long"),
}
