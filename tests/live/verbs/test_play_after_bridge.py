"""A prompt right after a conversation plays, because the leg leaves its bridge first (0007)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from engine.ari.client import AriClient
from engine.ari.generated.events import PlaybackFinished, StasisStart
from engine.ari.generated.operations import channels
from engine.ari.request import Reply, Request
from engine.calls.model.commands import (
    AddToBridge,
    Answer,
    DestroyBridge,
    PbxCommand,
    RemoveFromBridge,
)
from engine.runtime.pbx.ari_requests import may_block, requests_for
from tests.harness.ari.fake_pbx import running
from tests.harness.customers.media_server import MediaServer
from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.phone import Phone
from tests.harness.runtime.shard_scene import ENDPOINTS
from tests.harness.until import until
from tests.live.pbx.test_ari import EventRecorder, address, client

ROUNDS = 100


class BridgedCalls:
    """Two calls of phones on which commands are executed in order."""

    def __init__(self, ari: AriClient, ear: EventRecorder, phone: Phone) -> None:
        self.ari = ari
        self.listener = ear
        self.phone = phone

    @property
    def legs(self) -> tuple[str, ...]:
        """Return the channel ids of the phones."""
        return tuple(e.channel.id for e in self.listener.events if isinstance(e, StasisStart))

    async def bridge_legs(self, bridge: str) -> None:
        """Bridge the phones until the first one receives audio."""
        before = len(self.phone.frames)
        await self.execute(AddToBridge(bridge, self.legs))
        await until(lambda: len(self.phone.frames) > before + 1, what="a few packets")

    async def execute(self, *commands: PbxCommand) -> None:
        """Execute commands as the engine does."""
        for command in commands:
            for request in requests_for(command, ENDPOINTS):
                await self._request(request, may_block(command))

    async def play(self, request: Request) -> None:
        """Play a prompt and wait for its end."""
        heard = len(self.finished)
        await self._request(request, blocks=False)
        await until(lambda: len(self.finished) > heard, what=f"the end of prompt {heard + 1}")

    async def _request(self, request: Request, blocks: bool) -> None:
        """Send a request and return at its reply, as the engine does."""
        replied: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.ari.send(request, "call-1", blocks, replied.set_result)
        await replied

    @property
    def finished(self) -> list[PlaybackFinished]:
        """Return the finished playbacks."""
        return [each for each in self.listener.events if isinstance(each, PlaybackFinished)]


@pytest.fixture
async def line(tmp_path: Path) -> AsyncIterator[BridgedCalls]:
    """Run a PBX with two answered calls of phones."""
    ear = EventRecorder()
    async with AsyncExitStack() as stack:
        pbx = await stack.enter_async_context(Pbx(tmp_path / "pbx1", slots=1))
        ari = await stack.enter_async_context(client(address(pbx)))
        await stack.enter_async_context(running(ari.events("switchroom-0", ear).run()))
        await until(lambda: ear.states == ["back"] and ari.router.is_ready)
        calling = (Phone.calling(pbx, "15550100", tone_hz=hz) for hz in (400, 600))
        phones = [await stack.enter_async_context(each) for each in calling]
        line = BridgedCalls(ari, ear, phones[0])
        await until(lambda: len(line.legs) == len(phones), what="both calls")
        await line.execute(*map(Answer, line.legs))
        yield line


async def test_a_prompt_after_a_bridge_is_not_lost(line: BridgedCalls, sounds: MediaServer) -> None:
    """100 times: each prompt right after leaving a destroyed bridge plays to its end."""
    tone = f"sound:{sounds.tone(600, 20)}"
    leg, _ = line.legs
    for number in range(ROUNDS):
        bridge = f"b{number}"
        await line.bridge_legs(bridge)
        await line.execute(RemoveFromBridge(bridge, leg), DestroyBridge(bridge))
        await line.play(channels.play_with_id(leg, f"p{number}", media=[tone]))
    assert [each.playback.state for each in line.finished] == ["done"] * ROUNDS
