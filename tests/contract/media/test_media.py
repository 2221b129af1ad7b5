"""Media with real parts: an origin server on loopback, FFmpeg in its worker, clips over HTTP."""

import asyncio
import io
import os
import time
import wave
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from engine.media.clip import BYTES_PER_MS, LEAD_IN_MS, Clip
from engine.rpc.media import media_routes
from engine.rpc.peers.client import PeerClient
from engine.rpc.peers.prompts import RemoteClips
from engine.rpc.peers.signature import RequestSigner
from tests.harness.media.scene import failure, media_scene, read_samples
from tests.harness.media.sounds import FORMATS, REFUSED, MediaScene, level_db, sound
from tests.harness.rpc.other_engines import SINGLE_ENGINE
from tests.harness.rpc.scene import TOKEN
from tests.harness.until import until
from wire.media import Audio, Tone


@pytest.fixture
async def scene() -> AsyncIterator[MediaScene]:
    """Start the scene."""
    async with media_scene() as scene:
        yield scene


async def test_formats(scene: MediaScene, tmp_path: Path) -> None:
    """Each format becomes a clip of the right length, pitch and peak."""
    async with scene.open_cache(tmp_path) as cache:
        for kind in FORMATS:
            scene.origin.bodies[kind] = (sound(kind), {})
            clip = await cache.fetch("acme", scene.source_at(kind))
            pcm = await read_samples(cache, clip)
            assert abs(clip.duration_ms - 1000) < 60, kind
            assert clip.duration_ms == round(len(pcm) / 8), kind
            assert abs(level_db(pcm[800:7200], 440) - -6.02) < 0.5, kind


async def test_exact_length(scene: MediaScene, tmp_path: Path) -> None:
    """A clip of a format without padding has its original's length, to the millisecond."""
    async with scene.open_cache(tmp_path) as cache:
        for length_s in (0.25, 1.234):
            name = f"{length_s}"
            scene.origin.bodies[name] = (sound("flac", length_s=length_s), {})
            assert (await cache.fetch("acme", scene.source_at(name))).duration_ms == round(
                length_s * 1000
            )


async def test_no_aliasing(scene: MediaScene, tmp_path: Path) -> None:
    """A tone above the new band is removed and has no alias inside it."""
    scene.origin.bodies["high"] = (sound("wav", tone_hz=6000, rate_hz=44_100), {})
    async with scene.open_cache(tmp_path) as cache:
        pcm = await read_samples(cache, await cache.fetch("acme", scene.source_at("high")))
    assert level_db(pcm[800:7200], 2000) < -80
    assert np.sqrt(np.mean(pcm[800:7200] ** 2)) < 3


async def test_refused(scene: MediaScene, tmp_path: Path) -> None:
    """No audio, too much audio and slow audio fail with their reason, and leave no files."""
    async with scene.open_cache(tmp_path) as cache:
        for name, (given, reason) in REFUSED.items():
            if isinstance(given, bytes):
                scene.origin.bodies[name] = (given, {"Content-Type": "audio/mpeg"})
            else:
                scene.origin.handlers[name] = given
            assert (await failure(cache, scene.source_at(name))).reason == reason, name
        assert (await failure(cache, scene.source_at("missing"))).reason == "not_found"
        assert list(await asyncio.to_thread(os.listdir, tmp_path)) in ([], ["index.json"])


async def test_addresses(scene: MediaScene, tmp_path: Path, unused_tcp_port: int) -> None:
    """Internal addresses are refused with that reason; a closed port is only unreachable."""
    async with scene.open_cache(tmp_path) as cache:
        for host in ("169.254.169.254", "[::1]", "10.0.0.1", "0x0a000001", "167772161"):
            got = await failure(cache, Audio(f"http://{host}:1/a.wav"))
            assert got.reason == "refused_address", host
        got = await failure(cache, Audio(f"http://127.0.0.1:{unused_tcp_port}/a.wav"))
        assert got.reason == "unreachable"
        for host in ("127.0.0.1:65536", "127.0.0.1:x", "[::1"):
            got = await failure(cache, Audio(f"http://{host}/a.wav"))
            assert got.reason == "refused_address", host


async def test_an_address_with_a_signature(scene: MediaScene, tmp_path: Path) -> None:
    """It reaches the server as it is given: a signature of `%40` is not one of `@`."""
    requested: list[str] = []

    async def respond(request: web.Request) -> web.StreamResponse:
        requested.append(request.raw_path)
        return web.Response(body=sound("wav"))

    scene.origin.handlers["a~(1).wav"] = respond
    name = "a%7E%281%29.wav?e=a%40b.c&t=a@b:c&sig=%3D"
    async with scene.open_cache(tmp_path) as cache:
        await cache.fetch("acme", scene.source_at(name))
    assert requested == [f"/{name}"]


async def test_a_redirect(scene: MediaScene, tmp_path: Path) -> None:
    """It is followed, as storage services send it, to the address as it is given."""
    requested: list[str] = []

    async def redirect(request: web.Request) -> web.StreamResponse:
        location = request.rel_url.raw_query_string.removeprefix("to=")
        return web.Response(status=int(request.match_info["name"]), headers={"Location": location})

    async def respond(request: web.Request) -> web.StreamResponse:
        requested.append(request.raw_path)
        return web.Response(body=sound("wav"))

    scene.origin.handlers["stored"] = respond
    async with scene.open_cache(tmp_path) as cache:
        for status in ("301", "302", "303", "307", "308"):
            scene.origin.handlers[status] = redirect
            await cache.fetch("acme", scene.source_at(f"{status}?to=/stored?sig=a%40{status}"))
    assert requested == [f"/stored?sig=a%40{status}" for status in (301, 302, 303, 307, 308)]


@pytest.mark.parametrize(
    "parts",
    [
        [sound("mp3"), sound("mp3", rate_hz=24_000, channels=1)],
        [sound("mp3"), sound("mp3", channels=1), sound("mp3")],
        [sound("aac", channels=1), sound("aac", rate_hz=24_000)],
        [sound("mp2"), sound("mp2", rate_hz=24_000)],
        [sound("flac"), sound("flac", rate_hz=24_000)],
        [sound("opus", channels=1), sound("opus"), sound("opus")[:100]],
        [sound("ogg"), sound("ogg", rate_hz=24_000), sound("opus")],
    ],
    ids=["mp3", "three", "aac", "mp2", "flac", "opus", "vorbis and opus"],
)
async def test_joined_files(scene: MediaScene, tmp_path: Path, parts: list[bytes]) -> None:
    """All of them are heard, also with other channels, rates and codecs; not one without audio."""
    scene.origin.bodies["joined"] = (b"".join(parts), {})
    whole = [each for each in parts if len(each) > 100]
    async with scene.open_cache(tmp_path) as cache:
        clip = await cache.fetch("acme", scene.source_at("joined"))
        pcm = await read_samples(cache, clip)
    assert abs(clip.duration_ms - 1000 * len(whole)) < 60 * len(whole)
    for number in range(len(whole)):
        part = pcm[8_000 * number + 1_600 :][:4_800]
        assert abs(level_db(part, 440) - -6.02) < 0.5


async def test_titles_in_any_encoding(scene: MediaScene, tmp_path: Path) -> None:
    """Texts of a file do not matter for its audio."""
    title = "Café".encode("cp1252")
    info = b"INFOINAM" + len(title).to_bytes(4, "little") + title
    chunk = b"LIST" + len(info).to_bytes(4, "little") + info
    wav = sound("wav")
    head = b"RIFF" + (len(wav) - 8 + len(chunk)).to_bytes(4, "little") + wav[8:36]
    scene.origin.bodies["a.wav"] = (head + chunk + wav[36:], {})
    tag = b"TAG" + title.ljust(125, b"\0")  # of ID3, version 1
    scene.origin.bodies["a.mp3"] = (sound("mp3") + tag, {})
    async with scene.open_cache(tmp_path) as cache:
        for name in ("a.wav", "a.mp3"):
            clip = await cache.fetch("acme", scene.source_at(name))
            assert abs(clip.duration_ms - 1000) < 60, name


async def test_channels_with_inverted_phase(scene: MediaScene, tmp_path: Path) -> None:
    """They would cancel each other out: one of them is heard. Silence is played, and known."""
    left = np.frombuffer(sound("wav")[44:], np.int16)[::2]
    for name, sign in (("inverted", -1), ("silent", 0)):
        samples = np.stack([left * abs(sign), left * sign], axis=1).astype("<i2")
        scene.origin.bodies[name] = (_stereo(samples.tobytes()), {})
    async with scene.open_cache(tmp_path) as cache:
        pcm = await read_samples(cache, await cache.fetch("acme", scene.source_at("inverted")))
        assert abs(level_db(pcm[800:7200], 440) - -6.02) < 0.5
        pcm = await read_samples(cache, await cache.fetch("acme", scene.source_at("silent")))
        assert len(pcm) > 7_900
        assert not pcm.any()
        found = [cache.is_silent("acme", scene.source_at(each)) for each in ("inverted", "silent")]
        assert found == [False, True]


def _stereo(samples: bytes) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((2, 2, 48_000, 0, "NONE", "not compressed"))
        out.writeframes(samples)
    return file.getvalue()


async def test_truncated(scene: MediaScene, tmp_path: Path) -> None:
    """The beginning of a truncated file is played, as in any player."""
    scene.origin.bodies["cut.wav"] = (sound("wav")[: 44 + 96_000], {})
    async with scene.open_cache(tmp_path) as cache:
        assert (await cache.fetch("acme", scene.source_at("cut.wav"))).duration_ms == 500


async def test_renewed_and_restarted(scene: MediaScene, tmp_path: Path) -> None:
    """A restarted engine has its clips at once, and refreshes a stale one by its ETag."""
    headers = {"ETag": '"v1"', "Cache-Control": "max-age=100"}
    scene.origin.bodies["a"] = (sound("wav"), headers)
    async with scene.open_cache(tmp_path) as cache:
        clip = await cache.fetch("acme", scene.source_at("a"))
    async with scene.open_cache(tmp_path) as cache:
        assert cache.cached("acme", scene.source_at("a")) == clip
        scene.now_ms = 100_000
        assert cache.cached("acme", scene.source_at("a")) == clip
        await until(lambda: scene.origin.requests == [("a", ""), ("a", '"v1"')])
        scene.origin.bodies["a"] = (sound("wav", tone_hz=300), headers | {"ETag": '"v2"'})
        scene.now_ms = 200_000
        await until(lambda: cache.cached("acme", scene.source_at("a")) not in (clip, None))


async def test_new_audio_without_an_etag(scene: MediaScene, tmp_path: Path) -> None:
    """The ETag of the audio before is not asked for again: a 304 would be of that one."""
    source, headers = scene.source_at("a"), {"Cache-Control": "max-age=100"}
    scene.origin.bodies["a"] = (sound("wav"), headers | {"ETag": '"v1"'})
    async with scene.open_cache(tmp_path) as cache:
        clip = await cache.fetch("acme", source)
        scene.origin.bodies["a"] = (sound("wav", tone_hz=300), headers)
        scene.now_ms = 100_000
        await until(lambda: cache.cached("acme", source) not in (clip, None))
        scene.now_ms = 200_000
        await until(
            lambda: cache.cached("acme", source) is not None and len(scene.origin.requests) == 3
        )
    assert [etag for _, etag in scene.origin.requests] == ["", '"v1"', ""]


async def test_fetched_once(scene: MediaScene, tmp_path: Path) -> None:
    """Concurrent fetches of the same audio cost its server one request."""
    scene.origin.bodies["a"] = (sound("mp3"), {})
    async with scene.open_cache(tmp_path) as cache:
        clips = await asyncio.gather(
            *(cache.fetch("acme", scene.source_at("a")) for _ in range(20))
        )
    assert len(set(clips)) == 1
    assert scene.origin.requests == [("a", "")]


async def test_served(scene: MediaScene, tmp_path: Path) -> None:
    """A clip is served whole, in ranges and by its ETag; other files of the directory are not."""
    scene.origin.bodies["a"] = (sound("wav"), {})
    async with scene.open_cache(tmp_path) as cache:
        clip = await cache.fetch("acme", scene.source_at("a"))
        remote = RemoteClips(
            PeerClient(SINGLE_ENGINE, scene.session, RequestSigner(TOKEN, time.time))
        )
        app = web.Application()
        app.add_routes(media_routes(cache, remote))
        async with TestServer(app) as server:
            await check_serving(scene.session, str(server.make_url("/media/")), clip)
            await check_lead_in(scene.session, str(server.make_url("/media/")), clip)
            other = await cache.fetch("acme", Tone(425, 200))
            await check_joined(scene.session, str(server.make_url("/media/")), (clip, other))
            (tmp_path / f"{clip.key}.wav").unlink()
            async with scene.session.get(server.make_url(f"/media/{clip.key}.wav")) as missing:
                assert missing.status == 404
        assert cache.cached("acme", scene.source_at("a")) is None


async def check_joined(session: ClientSession, base: str, clips: Sequence[Clip]) -> None:
    """Request several clips as one file, also after a silence; all must be there."""
    keys = [each.key for each in clips]
    whole = b"".join([await samples_of(session, f"{base}{each}.wav") for each in keys])
    joined = f"{base}{'-'.join(keys)}"
    assert await samples_of(session, f"{joined}.wav") == whole
    silence = bytes(LEAD_IN_MS * BYTES_PER_MS)
    assert await samples_of(session, f"{joined}-lead-in.wav") == silence + whole
    for bad in (f"{joined}-{'0' * 32}", f"{joined}-", "-".join(keys * 5)):
        async with session.get(f"{base}{bad}.wav") as response:
            assert response.status == 404, bad


async def samples_of(session: ClientSession, url: str) -> bytes:
    async with session.get(url) as response:
        with wave.open(io.BytesIO(await response.read())) as file:
            samples: bytes = file.readframes(file.getnframes())
            return samples


async def check_lead_in(session: ClientSession, base: str, clip: Clip) -> None:
    """Request the same file after 20 ms of silence, for a playback that resumes."""
    async with session.get(f"{base}{clip.key}.wav") as plain:
        with wave.open(io.BytesIO(await plain.read())) as file:
            samples = file.readframes(file.getnframes())
    async with session.get(f"{base}{clip.key}-lead-in.wav") as later:
        assert later.headers["Content-Type"] == "audio/wav"
        with wave.open(io.BytesIO(await later.read())) as file:
            assert file.readframes(file.getnframes()) == bytes(LEAD_IN_MS * BYTES_PER_MS) + samples


async def check_serving(session: ClientSession, base: str, clip: Clip) -> None:
    """Request a clip in every way that a PBX may."""
    url = f"{base}{clip.key}.wav"
    async with session.get(url) as response:
        assert len(await response.read()) == 44 + clip.duration_ms * 16
        assert response.headers["Content-Type"] == "audio/wav"
        assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        etag = response.headers["ETag"]
        assert not etag.startswith("W/")
    async with session.head(url) as response:
        assert (response.status, response.content_length) == (200, 44 + clip.duration_ms * 16)
    async with session.get(url, headers={"If-None-Match": etag}) as response:
        assert response.status == 304
    async with session.get(url, headers={"Range": "bytes=0-3"}) as response:
        assert (response.status, await response.read()) == (206, b"RIFF")
    for name in (
        "index.json",
        "..%2Findex.json",
        f"{clip.key[:-1]}.wav",
        f"{'0' * 32}.wav",
        "x.wav",
    ):
        async with session.get(f"{base}{name}") as response:
            assert response.status == 404, name
