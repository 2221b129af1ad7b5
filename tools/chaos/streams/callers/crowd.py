"""All callers of a scenario: who talks, who listens, and who coughs."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

from tests.harness.bots.speech import spoken
from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.monotonic import now_ms
from tests.harness.phones.audio import Samples, cough
from tests.harness.until import until
from tools.chaos.streams.callers.listener import PROMPT_MS, ListenerNotice, PromptListener
from tools.chaos.streams.callers.media_clock import MediaClock
from tools.chaos.streams.callers.talker import Talker
from tools.chaos.streams.servers.programs import Programs

WORDS = ("support", "billing", "operator")
LISTENERS_OF_TEN, BARGE_IN_EVERY, FORK_EVERY = 2, 5, 10
LASTS_S = 600
AT_ONCE = 4
READY_TIMEOUT_S = 30.0
ECHO_TIMEOUT_S = 25.0
DELAY_MS = 1_000


class Crowd:
    """The callers: of ten, two listen and eight talk, one of them also to a fork."""

    def __init__(
        self,
        programs: Programs,
        hooks: WebhookServer,
        sounds: MediaServer,
        speech: Mapping[str, Samples],
    ) -> None:
        self.talkers: list[Talker] = []
        self.listeners: list[PromptListener] = []
        self.forks = 0
        self._programs = programs
        self._hooks = hooks
        self._sounds = sounds
        self._speech = speech  # by word

    async def place(self, calls: int) -> None:
        """Place the calls; those who listen call last, so that all hear their prompts now."""
        numbers = await self._numbers()
        for index in range(calls - _listeners(calls)):
            is_coughing, has_fork = index % BARGE_IN_EVERY == 1, index % FORK_EVERY == 2
            number = numbers["fork" if has_fork else "pause" if is_coughing else "echo"]
            self.talkers.append(Talker(number, is_coughing=is_coughing and not has_fork))
            self.forks += has_fork
        await self._call(self.talkers)

    async def place_listeners(self, calls: int) -> None:
        """Place the calls that hear a prompt from now on."""
        lab = self._programs.cluster.labs[-1]
        for index in range(_listeners(calls)):
            path = f"/said/{index}"
            number, word = await self._gather(lab, path), WORDS[index % len(WORDS)]
            self.listeners.append(PromptListener(number, path, word))
        await self._call(self.listeners)
        await until(
            lambda: all(each.heard_ms > 0 for each in self.listeners), what="all to hear a prompt"
        )

    @property
    def all(self) -> Sequence[Talker | PromptListener]:
        """All callers."""
        return [*self.talkers, *self.listeners]

    @property
    def ended(self) -> int:
        """The number of callers whose call was ended."""
        return sum(each.sip.is_ended for each in self.all)

    async def wait_connected(self) -> None:
        """Wait until each bot, fork and recognizer is connected once."""
        bots, programs = len(self.talkers) + self.forks, self._programs
        wanted = bots, len(self.listeners)
        found = 0, 0

        def are_connected() -> bool:
            nonlocal found
            found = programs.bots.connected, programs.recognized_streams
            return found == wanted

        await until(
            are_connected,
            timeout_s=READY_TIMEOUT_S,
            every_s=0.05,
            what=lambda: f"{wanted} bots and recognizers; {found} are connected",
        )

    async def wait_echoes(self) -> None:
        """Wait until each talker hears something again that is sent from now on."""
        since_ms = now_ms()

        def deaf() -> int:
            return sum(not each.echoes.has_returned(since_ms) for each in self.talkers)

        await until(
            lambda: not deaf(),
            timeout_s=ECHO_TIMEOUT_S,
            what=lambda: f"echoes; {deaf()} talkers hear none",
        )

    async def measure_delay_ms(self) -> float:
        """Return the longest time that a sound needs now until it comes back."""
        since_ms = now_ms()
        await until(lambda: now_ms() - since_ms >= DELAY_MS, what="sounds to come back")
        return max(each.echoes.delay_ms(since_ms) for each in self.talkers)

    async def wait_forks_hear(self) -> None:
        """Wait until all forks are there and get audio."""
        before = await self._programs.bots.heard_by_forks()

        async def do_all_hear() -> bool:
            now = await self._programs.bots.heard_by_forks()
            return len(now) == self.forks and all(now[each] > before.get(each, 0) for each in now)

        await until(do_all_hear, every_s=0.1, what=f"{self.forks} forks to hear their callers")

    def cough(self) -> None:
        """Let the coughing talkers and every second listener cough."""
        for talker in self.talkers:
            if talker.is_coughing:
                talker.cough()
        for listener in self.listeners[::2]:
            listener.cough(cough())

    async def speak(self) -> None:
        """Let each listener say a word after the prompt."""
        await asyncio.gather(*(each.wait_prompt_over() for each in self.listeners))
        await asyncio.gather(*(each.say(self._speech, self._hooks) for each in self.listeners))

    def notices(self) -> list[ListenerNotice]:
        """Return what listeners have noticed; takes a tenth of a second for each."""
        return [each.notice(self._hooks) for each in self.listeners]

    def close(self) -> None:
        """End all phones."""
        for each in self.all:
            each.close()

    async def _numbers(self) -> dict[str, str]:
        lab, bots = self._programs.cluster.labs[-1], self._programs.bots
        echo = {"type": "stream", "data": {"url": bots.echo_url}}
        pause = {"type": "stream", "data": {"url": bots.echo_url, "bargeIn": "pause"}}
        fork = {"type": "stream", "data": {"url": bots.fork_url, "fork": True}, "action": echo}
        actions = {"echo": echo, "pause": pause, "fork": fork}
        return {name: await lab.add_number(action) for name, action in actions.items()}

    async def _gather(self, lab: Lab, path: str) -> str:
        data = {
            "audioUrl": self._sounds.sweep(PROMPT_MS),
            "input": ["speech", "digits"],
            "hints": list(WORDS),
            "timeout": LASTS_S * 1000,
        }
        waits = {"type": "pause", "data": {"length": LASTS_S}}
        url = self._hooks.answers(path, waits)
        return await lab.add_number({"type": "gather", "data": data, "action": url})

    async def _call(self, callers: Sequence[Talker | PromptListener]) -> None:
        limit, port = asyncio.Semaphore(AT_ONCE), self._programs.pbx.sip_port

        async def call(caller: Talker | PromptListener) -> None:
            async with limit:
                await caller.call(port)

        await asyncio.gather(*map(call, callers))


def _listeners(calls: int) -> int:
    return max(1, calls * LISTENERS_OF_TEN // 10)


@asynccontextmanager
async def crowd(
    programs: Programs, hooks: WebhookServer, sounds: MediaServer, calls: int
) -> AsyncIterator[Crowd]:
    """Let so many callers talk and listen."""
    speech = {word: await spoken(word) for word in WORDS}
    callers = Crowd(programs, hooks, sounds, speech)
    await callers.place(calls)
    sending = asyncio.create_task(MediaClock(callers.talkers).run())
    try:
        await callers.place_listeners(calls)
        await callers.wait_connected()
        await callers.wait_echoes()
        yield callers
    finally:
        sending.cancel()
        with suppress(asyncio.CancelledError):
            await sending
        callers.close()
