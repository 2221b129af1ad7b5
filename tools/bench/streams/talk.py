"""A caller and the bot that it hears; each frame of the bot is unlike all others."""

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from tests.harness.customers.bot_server import Bot, BotServer
from tests.harness.live_lab import Lab
from tests.harness.monotonic import now_ms
from tests.harness.until import until
from tools.bench.ivr.rtp import SILENCE
from tools.bench.streams.media_phone import MediaPhone, loud_bytes

LONGEST_CALL = 100_000  # packets


class Talk:
    """One call; all times are monotonic milliseconds."""

    def __init__(self, phone: MediaPhone, bot: Bot) -> None:
        self.bot = bot
        self._phone = phone
        self._sounds: deque[bytes] = deque()  # that the caller will make
        self._sound_ms = 0.0

    async def speak(self) -> None:
        """Send the caller's packets: a sound, or else silence."""
        async for _ in self._phone.pace(LONGEST_CALL):
            if self._sounds:
                self._sound_ms = self._sound_ms or now_ms()
                self._phone.send(self._sounds.popleft())
            else:
                self._phone.send(SILENCE)

    async def make_sound(self, packets: int) -> float:
        """Let the caller make a noise, and return when its first packet left."""
        self._sound_ms = 0.0
        self._sounds.extend(loud_bytes(len(SILENCE)) for _ in range(packets))
        await until(lambda: self._sound_ms > 0, every_s=0.005, what="the caller's sound")
        return self._sound_ms

    async def say(self, frames: Sequence[bytes]) -> None:
        """Let the bot say frames, as fast as it can."""
        for each in frames:
            await self.bot.send_media(each)

    def heard_ms(self, frames: Sequence[bytes]) -> list[float]:
        """Return when each frame was heard; NaN: not."""
        wall_ms = time.time() * 1000 - now_ms()
        times = {each.payload: each.at_s * 1000 - wall_ms for each in self._phone.packets}
        return [times.get(each, math.nan) for each in frames]

    async def wait_heard(self, frame: bytes) -> float:
        """Wait until a frame is heard, and return when."""
        await until(
            lambda: any(each.payload == frame for each in reversed(self._phone.packets)),
            every_s=0.005,
            what="a frame of the bot",
        )
        return self.heard_ms([frame])[0]

    def forget(self) -> None:
        """Forget what was heard."""
        self._phone.packets.clear()


def new_frames(count: int) -> list[bytes]:
    """Return frames of 20 ms that no other one equals."""
    return [loud_bytes(len(SILENCE)) for _ in range(count)]


@asynccontextmanager
async def talking(lab: Lab, barge_in: str) -> AsyncIterator[Talk]:
    """Connect a caller, who sends silence, with a bot."""
    async with BotServer() as bots, MediaPhone() as phone:
        data = {"url": bots.url("/bot"), "bargeIn": barge_in}
        await phone.call(lab.pbx.sip_port, await lab.add_number({"type": "stream", "data": data}))
        talk = Talk(phone, await bots.wait_for_bot())
        speaking = asyncio.create_task(talk.speak())
        try:
            yield talk
        finally:
            speaking.cancel()
            with suppress(asyncio.CancelledError):
                await speaking
