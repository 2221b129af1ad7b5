"""A prompt right after a conversation is heard, as the leg has left its bridge before (0007)."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from engine.ari.client import Ari
from engine.ari.generated.events import PlaybackFinished, StasisStart
from engine.ari.generated.operations import channels
from engine.ari.request import Request
from engine.calls.commands import Answer, Bridge, DestroyBridge, Leave, PbxCommand
from engine.runtime.requests import may_block, requests
from tests.harness.media_server import MediaServer
from tests.harness.pbx import Pbx
from tests.harness.phone import Phone
from tests.harness.until import until
from tests.live.test_ari import Ear, address, client, send
from tests.unit.ari.fake_pbx import running
from tests.unit.runtime.building import PLAN

TIMES = 100


class Line:
    """A phone's call that commands are done on, one after another."""

    def __init__(self, ari: Ari, ear: Ear) -> None:
        self.ari = ari
        self.ear = ear

    @property
    def leg(self) -> str:
        """Name the phone's channel."""
        return next(e.channel.id for e in self.ear.events if isinstance(e, StasisStart))

    async def do(self, *commands: PbxCommand) -> None:
        """Do commands as the engine does."""
        for command in commands:
            for request in requests(command, PLAN):
                await send(self.ari, request, may_block=may_block(command))

    async def play(self, request: Request) -> None:
        """Ask for a prompt and wait for its end."""
        heard = len(self.finished)
        await send(self.ari, request)
        await until(lambda: len(self.finished) > heard, what=f"the end of prompt {heard + 1}")

    @property
    def finished(self) -> list[PlaybackFinished]:
        """List the prompts that have ended."""
        return [each for each in self.ear.events if isinstance(each, PlaybackFinished)]


@pytest.fixture
async def line(tmp_path: Path) -> AsyncIterator[Line]:
    """Call a PBX of this test's own with a phone, and answer."""
    ear = Ear()
    async with AsyncExitStack() as house:
        pbx = await house.enter_async_context(Pbx(tmp_path / "pbx1", slots=1))
        ari = await house.enter_async_context(client(address(pbx)))
        await house.enter_async_context(running(ari.events("switchroom-0", ear).run()))
        await until(lambda: ear.states == ["back"] and ari.lanes.ready)
        await house.enter_async_context(Phone.calling(pbx, "15550100"))
        line = Line(ari, ear)
        await until(lambda: any(isinstance(each, StasisStart) for each in ear.events))
        await line.do(Answer(line.leg))
        yield line


async def test_a_prompt_after_a_bridge_is_never_lost(line: Line, sounds: MediaServer) -> None:
    """100 times out of a bridge that is then destroyed: each prompt asked for at once ends."""
    tone = f"sound:{sounds.tone(600, 20)}"
    for number in range(TIMES):
        bridge = f"b{number}"
        await line.do(Bridge(bridge, (line.leg,)), Leave(bridge, line.leg), DestroyBridge(bridge))
        await line.play(channels.play_with_id(line.leg, f"p{number}", media=[tone]))
    assert [each.playback.state for each in line.finished] == ["done"] * TIMES
