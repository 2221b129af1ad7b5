"""Media for real: an origin on loopback, FFmpeg in its worker, clips over HTTP."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from engine.media.clip import Clip
from engine.media.serve import media_routes
from tests.contract.media.sounds import FORMATS, REFUSED, Stage, level_db, sound, until
from tests.contract.media.stage import failure, heard, staged
from wire.media import Audio


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """Give a stage to a test."""
    async with staged() as stage:
        yield stage


async def test_formats(stage: Stage, tmp_path: Path) -> None:
    """Each format becomes a clip of the right length, pitch and peak."""
    async with stage.library(tmp_path) as library:
        for kind in FORMATS:
            stage.origin.bodies[kind] = (sound(kind), {})
            clip = await library.fetch(stage.at(kind))
            pcm = await heard(library, clip)
            assert abs(clip.duration_ms - 1000) < 60, kind
            assert clip.duration_ms == round(len(pcm) / 8), kind
            assert abs(level_db(pcm[800:7200], 440) - -6.02) < 0.5, kind


async def test_exact_length(stage: Stage, tmp_path: Path) -> None:
    """A clip of a format without padding is as long as its original, to the millisecond."""
    async with stage.library(tmp_path) as library:
        for length_s in (0.25, 1.234):
            name = f"{length_s}"
            stage.origin.bodies[name] = (sound("flac", length_s=length_s), {})
            assert (await library.fetch(stage.at(name))).duration_ms == round(length_s * 1000)


async def test_no_aliasing(stage: Stage, tmp_path: Path) -> None:
    """A tone above the new band is gone; it does not come back as one inside it."""
    stage.origin.bodies["high"] = (sound("wav", tone_hz=6000, rate_hz=44_100), {})
    async with stage.library(tmp_path) as library:
        pcm = await heard(library, await library.fetch(stage.at("high")))
    assert level_db(pcm[800:7200], 2000) < -80
    assert np.sqrt(np.mean(pcm[800:7200] ** 2)) < 3


async def test_refused(stage: Stage, tmp_path: Path) -> None:
    """What is no audio, too much or too slow fails with its reason, and leaves nothing behind."""
    async with stage.library(tmp_path) as library:
        for name, (given, reason) in REFUSED.items():
            if isinstance(given, bytes):
                stage.origin.bodies[name] = (given, {"Content-Type": "audio/mpeg"})
            else:
                stage.origin.handlers[name] = given
            assert (await failure(library, stage.at(name))).reason == reason, name
        assert (await failure(library, stage.at("missing"))).reason == "not_found"
        assert list(await asyncio.to_thread(os.listdir, tmp_path)) in ([], ["index.json"])


async def test_addresses(stage: Stage, tmp_path: Path, unused_tcp_port: int) -> None:
    """Inner addresses are refused, and said to be; a closed port is only unreachable."""
    async with stage.library(tmp_path) as library:
        for host in ("169.254.169.254", "[::1]", "10.0.0.1", "0x0a000001", "167772161"):
            got = await failure(library, Audio(f"http://{host}:1/a.wav"))
            assert got.reason == "refused_address", host
        got = await failure(library, Audio(f"http://127.0.0.1:{unused_tcp_port}/a.wav"))
        assert got.reason == "unreachable"


async def test_truncated(stage: Stage, tmp_path: Path) -> None:
    """Of a file cut short, what is there is played, as any player does."""
    stage.origin.bodies["cut.wav"] = (sound("wav")[: 44 + 96_000], {})
    async with stage.library(tmp_path) as library:
        assert (await library.fetch(stage.at("cut.wav"))).duration_ms == 500


async def test_renewed_and_restarted(stage: Stage, tmp_path: Path) -> None:
    """A restarted engine knows its clips at once, and renews a stale one behind, by its ETag."""
    headers = {"ETag": '"v1"', "Cache-Control": "max-age=100"}
    stage.origin.bodies["a"] = (sound("wav"), headers)
    async with stage.library(tmp_path) as library:
        clip = await library.fetch(stage.at("a"))
    async with stage.library(tmp_path) as library:
        assert library.known(stage.at("a")) == clip
        stage.now_ms = 100_000
        assert library.known(stage.at("a")) == clip
        await until(lambda: stage.origin.asked == [("a", ""), ("a", '"v1"')])
        stage.origin.bodies["a"] = (sound("wav", tone_hz=300), headers | {"ETag": '"v2"'})
        stage.now_ms = 200_000
        await until(lambda: library.known(stage.at("a")) not in (clip, None))


async def test_asked_once(stage: Stage, tmp_path: Path) -> None:
    """Many who want the same audio at once cost its server one request."""
    stage.origin.bodies["a"] = (sound("mp3"), {})
    async with stage.library(tmp_path) as library:
        clips = await asyncio.gather(*(library.fetch(stage.at("a")) for _ in range(20)))
    assert len(set(clips)) == 1
    assert stage.origin.asked == [("a", "")]


async def test_served(stage: Stage, tmp_path: Path) -> None:
    """A clip is served whole, in parts and by its ETag; nothing else in the directory is."""
    stage.origin.bodies["a"] = (sound("wav"), {})
    async with stage.library(tmp_path) as library:
        clip = await library.fetch(stage.at("a"))
        app = web.Application()
        app.add_routes(media_routes(library))
        async with TestServer(app) as server:
            await check_serving(stage.session, str(server.make_url("/media/")), clip)
            (tmp_path / f"{clip.key}.wav").unlink()
            async with stage.session.get(server.make_url(f"/media/{clip.key}.wav")) as gone:
                assert gone.status == 404
        assert library.known(stage.at("a")) is None


async def check_serving(session: ClientSession, base: str, clip: Clip) -> None:
    """Ask for a clip in every way that a PBX may."""
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
