"""Playbacks that are paused, as a sound of the caller does: status codes, events, and the audio."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack
from itertools import groupby
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from aiohttp import web

from engine.ari.client import AriClient
from engine.ari.events import decode
from engine.ari.generated.events import PlaybackFinished, StasisStart
from engine.ari.generated.models import Playback
from engine.ari.generated.operations import channels, playbacks
from tests.harness.ari.fake_pbx import running
from tests.harness.monotonic import now_ms
from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.audio import AUDIBLE_LEVEL, Frame, cough, level, tone, wav
from tests.harness.phones.phone import Phone
from tests.harness.servers.web_server import WebServer
from tests.harness.until import until
from tests.live.pbx.test_ari import EventRecorder, address, client, send

STEPS, MANY_STEPS = 100, 300  # frames of the sound; each has another pitch than those around it
PITCHES_HZ = tuple(range(400, 2_900, 50))
COUGHS = 4  # many steps last longer than their requests on a busy machine
UNDER_WAY = 1  # frames that arrive after the answer to a request
FIRST = 0  # the step that Asterisk plays once whenever a playback continues


class StepServer(WebServer):
    """Serves a sound of whose every frame it is known which one it is."""

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Serve the sound."""
        return [web.get("/tone/steps-{steps}.wav", _steps)]

    def media(self, steps: int) -> list[str]:
        """Return the sound for a playback."""
        return [f"sound:{self.url(f'/tone/steps-{steps}.wav')}"]


async def _steps(request: web.Request) -> web.Response:
    steps = range(int(request.match_info["steps"]))
    pitches = (PITCHES_HZ[step % len(PITCHES_HZ)] for step in steps)
    sound = np.concatenate([tone(hz) for hz in pitches])
    return web.Response(body=wav(sound), content_type="audio/wav")


class AnsweredLeg:
    """A phone's call in which a test plays the steps."""

    def __init__(self, ari: AriClient, ear: EventRecorder, phone: Phone, steps: StepServer) -> None:
        self.ari = ari
        self._ear = ear
        self._phone = phone
        self._steps = steps

    async def play(self, playback: str, steps: int = STEPS) -> int:
        """Play so many steps; return the status."""
        leg = next(e.channel.id for e in self._ear.events if isinstance(e, StasisStart))
        request = channels.play_with_id(leg, playback, media=self._steps.media(steps))
        return (await send(self.ari, request)).status

    async def control(self, playback: str, operation: Literal["pause", "unpause"]) -> int:
        return (await send(self.ari, playbacks.control(playback, operation=operation))).status

    async def state(self, playback: str) -> str:
        return decode(await self.ari.ask(playbacks.get(playback)), Playback).state

    async def wait_ended(self, playback: str) -> str:
        """Wait for the end of a playback; return its state."""
        await until(lambda: playback in self.ended, what=f"the end of {playback}")
        return self.ended[playback]

    @property
    def ended(self) -> dict[str, str]:
        """The states with which playbacks ended."""
        finished = (each for each in self._ear.events if isinstance(each, PlaybackFinished))
        return {each.playback.id: each.playback.state for each in finished}

    async def cough(self) -> None:
        """Let the caller cough."""
        await self._phone.say(cough())

    def heard_between(self, since_ms: float, until_ms: float) -> int:
        """Return how many frames arrived at the phone in this time, however late they are read."""
        return sum(since_ms < each.at_ms < until_ms for each in self._phone.frames)

    async def hear(self, frames: int) -> None:
        """Wait until the phone has heard some frames more."""
        enough = len(self._phone.frames) + frames
        await until(lambda: len(self._phone.frames) >= enough, what=f"{frames} frames")

    @property
    def steps_heard(self) -> list[int]:
        """The steps that the phone has heard, frame by frame."""
        return [_step_of(each) for each in self._phone.frames]


def _step_of(frame: Frame) -> int:
    levels = [level(frame.samples, hz) for hz in PITCHES_HZ]
    assert max(levels) > AUDIBLE_LEVEL
    return int(np.argmax(levels))


@pytest.fixture
async def leg(tmp_path: Path) -> AsyncIterator[AnsweredLeg]:
    """Run a PBX with the answered call of a phone."""
    ear = EventRecorder()
    async with AsyncExitStack() as stack:
        steps = await stack.enter_async_context(StepServer())
        pbx = await stack.enter_async_context(Pbx(tmp_path / "pbx1", slots=1))
        ari = await stack.enter_async_context(client(address(pbx)))
        await stack.enter_async_context(running(ari.events("switchroom-0", ear).run()))
        await until(lambda: ear.states == ["back"] and ari.router.is_ready)
        phone = await stack.enter_async_context(Phone.calling(pbx, "15550100", tone_hz=400))
        await until(lambda: any(isinstance(each, StasisStart) for each in ear.events))
        line = AnsweredLeg(ari, ear, phone, steps)
        started = next(each for each in ear.events if isinstance(each, StasisStart))
        assert (await send(ari, channels.answer(started.channel.id))).ok
        yield line


def _expected(first: int, last: int) -> list[int]:
    return [step % len(PITCHES_HZ) for step in range(first, last)]


def _without_restarts(heard: Sequence[int]) -> list[int]:
    """Return the steps without the first one wherever it is out of turn."""
    kept: list[int] = []
    for step in heard:
        is_restart = step == FIRST and kept and kept[-1] != len(PITCHES_HZ) - 1
        if not is_restart:
            kept.append(step)
    return kept


async def test_coughs_cost_no_audio(leg: AnsweredLeg) -> None:
    """Each frame is heard once and in order; to continue costs one frame of the beginning."""
    await leg.play("p1", MANY_STEPS)
    for _ in range(COUGHS):
        await leg.hear(10)
        assert [await leg.control("p1", "pause") for _ in range(2)] == [204, 204]
        paused_ms = now_ms()
        assert await leg.state("p1") == "paused"
        await leg.cough()
        assert leg.heard_between(paused_ms, now_ms()) <= UNDER_WAY
        assert [await leg.control("p1", "unpause") for _ in range(2)] == [204, 204]
        assert await leg.state("p1") == "playing"
    assert await leg.wait_ended("p1") == "done"
    assert _without_restarts(leg.steps_heard) == _expected(0, MANY_STEPS)
    assert MANY_STEPS <= len(leg.steps_heard) <= MANY_STEPS + COUGHS


async def test_a_paused_playback_is_silent(leg: AnsweredLeg) -> None:
    """The phone gets no packet but what was under way."""
    await leg.play("p1")
    await leg.hear(10)
    await leg.control("p1", "pause")
    paused_ms = now_ms()
    await leg.cough()
    assert leg.heard_between(paused_ms, now_ms()) <= UNDER_WAY
    await leg.control("p1", "unpause")
    assert await leg.wait_ended("p1") == "done"


async def test_a_paused_playback_is_stopped(leg: AnsweredLeg) -> None:
    """It ends at once, as `done`, and nothing more of it is heard."""
    await leg.play("p1")
    await leg.hear(10)
    await leg.control("p1", "pause")
    paused_ms = now_ms()
    assert (await send(leg.ari, playbacks.stop("p1"))).status == 204
    assert await leg.wait_ended("p1") == "done"
    await leg.cough()
    assert leg.heard_between(paused_ms, now_ms()) <= UNDER_WAY
    assert await leg.control("p1", "unpause") == 404


async def test_a_playback_is_paused_before_it_is_heard(leg: AnsweredLeg) -> None:
    """It continues from its beginning; one behind it in the queue cannot be paused."""
    await leg.play("p1")
    assert await leg.control("p1", "pause") == 204
    await leg.play("p2")
    assert [await leg.control("p2", each) for each in ("pause", "unpause")] == [409, 409]
    assert (await send(leg.ari, playbacks.stop("p2"))).status == 204
    assert await leg.control("p1", "unpause") == 204
    assert await leg.wait_ended("p1") == "done"
    runs = [step for step, _ in groupby(leg.steps_heard)]
    assert _without_restarts(runs) == _expected(0, STEPS)


async def test_unknown_playbacks(leg: AnsweredLeg) -> None:
    """Neither one that never was, nor one that has ended, is paused or continued."""
    await leg.play("p1")
    assert await leg.wait_ended("p1") == "done"
    for playback in ("p0", "p1"):
        assert [await leg.control(playback, each) for each in ("pause", "unpause")] == [404, 404]
