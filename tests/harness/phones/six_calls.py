"""Six calls in different states, and checks that each one continues.

The states: a prompt plays, digits are half entered, a dialled phone rings, two parties talk, one of
two parties is on hold, a slow webhook is pending.
"""

import asyncio
from contextlib import AsyncExitStack
from typing import Any, Self

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.monotonic import now_ms
from tests.harness.phones.audio import assert_heard_once, assert_uninterrupted
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.engine import RequestError
from tests.harness.until import MAX_WAIT_S, until

# Long enough for a busy machine to replace engines before the first of these calls ends.
PROMPT_MS = 24_000
RINGS_MS = 16_000
WEBHOOK_DELAY_MS = 9_000  # well below the engine's timeout
AFTER_WEBHOOK_MS = 14_000
GATHER_MS = 300_000  # until the test presses the last key
KINDS = ("prompt", "gather", "ring", "talk", "hold", "ask")


class SixCalls:
    """Call ids by kind in `ids`; first legs in `phones`, dialled legs in `far`.

    Calls that end by themselves last `longer_ms` longer than usual.
    """

    def __init__(
        self, lab: Lab, hooks: WebhookServer, sounds: MediaServer, *, longer_ms: int = 0
    ) -> None:
        self._prompt_ms = PROMPT_MS + longer_ms
        self._after_webhook_ms = AFTER_WEBHOOK_MS + longer_ms
        self.ids: dict[str, str] = {}
        self.phones: dict[str, Phone] = {}
        self.far: dict[str, Phone] = {}
        self._lab = lab
        self._hooks = hooks
        self._sounds = sounds
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Start all calls and bring each into its state."""
        await asyncio.gather(*map(self._start, KINDS))
        await self.phones["prompt"].until_hears(600)
        await self._lab.wait_for_state(self.ids["gather"], "gathering")
        await self.phones["gather"].press("1")
        for kind in ("talk", "hold"):
            await self.phones[kind].until_hears(500)
            await self.far[kind].until_hears(400)
        await self.control(self._lab, "hold", "hold")
        await self.far["ring"].wait_ringing()
        await self._hooks.wait_for_request("/next")
        await until(self._is_stored, what="the first digit and the ringing to be stored")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def warm_up(self, lab: Lab) -> None:
        """Let another engine fetch the prompt, as engines in operation have.

        Else Asterisk waits for it when the prompt resumes, which counts as heard.
        """
        play = {"type": "play", "data": {"audioUrl": self._sounds.tone(600, self._prompt_ms)}}
        async with Phone.answering(free_port()) as phone:
            call = await lab.call(to=phone.address, action=play)
            await phone.until_hears(600)
            await phone.hang_up()
            await lab.wait_ended(call)

    async def control(self, lab: Lab, kind: str, operation: str, **more: object) -> None:
        """Control the first leg of a call through an engine; raises RequestError."""
        call = self.ids[kind]
        body = {"channelId": f"{call}.l0", **more}
        await lab.engine.rpc("POST", f"/calls/{call}/{operation}", body)

    async def wait_controllable(self, lab: Lab, timeout_s: float = MAX_WAIT_S) -> float:
        """Wait until all calls can be controlled through an engine; returns the milliseconds."""
        started_ms = now_ms()
        await asyncio.gather(*(self._wait_for_control(lab, kind, timeout_s) for kind in self.ids))
        return now_ms() - started_ms

    async def assert_continue(self, lab: Lab) -> None:
        """Assert that each call continues from its state, observed through an engine."""
        await asyncio.gather(
            self._finish_prompt(),
            self._finish_gather(),
            self._finish_ring(),
            self._finish_talk(),
            self._finish_hold(lab),
            self._finish_webhook(),
        )
        for call in self.ids.values():
            assert (await lab.wait_ended(call))["status"] == "completed"

    async def _start(self, kind: str) -> None:
        phone = await self._enter(Phone.answering(free_port(), tone_hz=400))
        self.phones[kind] = phone
        if kind in {"ring", "talk", "hold"}:
            after_ms = RINGS_MS if kind == "ring" else 1
            answering = Phone.answering(free_port(), tone_hz=500, after_ms=after_ms)
            self.far[kind] = await self._enter(answering)
        self.ids[kind] = await self._lab.call(to=phone.address, action=self._action(kind))

    def _action(self, kind: str) -> object:
        play = {"type": "play", "data": {"audioUrl": self._sounds.tone(700, 300)}}
        match kind:
            case "prompt":
                prompt = {"audioUrl": self._sounds.tone(600, self._prompt_ms)}
                return {"type": "play", "data": prompt, "action": play}
            case "gather":
                data = {"maxDigits": 2, "timeout": GATHER_MS, "digitTimeout": GATHER_MS}
                result = self._hooks.answers("/result", None)
                return {"type": "gather", "data": data, "action": result}
            case "ask":
                sound = {"audioUrl": self._sounds.tone(700, self._after_webhook_ms)}
                play = {"type": "play", "data": sound}
                return self._hooks.answers("/next", play, after_ms=WEBHOOK_DELAY_MS)
            case _:
                after = self._hooks.answers(f"/after-{kind}", None)
                number = self.far[kind].address
                return {"type": "dial", "data": {"number": number}, "action": after}

    async def _enter(self, phone: Any) -> Phone:
        opened: Phone = await self._stack.enter_async_context(phone)
        return opened

    async def _is_stored(self) -> bool:
        stories = [await self._lab.timeline_events(self.ids[kind]) for kind in ("gather", "ring")]
        happened = [[each["type"] for each in story] for story in stories]
        return "digit-pressed" in happened[0] and "leg-ringing" in happened[1]

    async def _wait_for_control(self, lab: Lab, kind: str, timeout_s: float) -> None:
        async def is_done() -> bool:
            try:
                await self.control(lab, kind, "mute", direction="in")
                await self.control(lab, kind, "unmute")
            except RequestError as refused:
                if refused.status != 503:
                    raise
                return False
            return True

        await until(is_done, timeout_s=timeout_s, what=f"{kind} to be controlled")

    async def _finish_prompt(self) -> None:
        phone = self.phones["prompt"]
        await phone.wait_ended(timeout_s=MAX_WAIT_S + self._prompt_ms / 1000)
        *prompt, after = phone.tones_heard(600, 700)
        assert after.hz == 700
        assert_heard_once(prompt, self._prompt_ms)

    async def _finish_gather(self) -> None:
        await self.phones["gather"].press("2")
        result = await self._hooks.wait_for_request("/result")
        assert (result.body["dtmf"], result.body["reason"]) == ("12", "max-digits")

    async def _finish_ring(self) -> None:
        await self._expect_bridged("ring")
        await self._hang_up_far_end("ring")

    async def _finish_talk(self) -> None:
        assert_uninterrupted(self.phones["talk"].tones_heard(500))
        await self._hang_up_far_end("talk")

    async def _finish_hold(self, lab: Lab) -> None:
        await self.control(lab, "hold", "unhold")
        await self._expect_bridged("hold")
        await self._hang_up_far_end("hold")

    async def _finish_webhook(self) -> None:
        phone = self.phones["ask"]
        await phone.wait_ended(timeout_s=MAX_WAIT_S + self._after_webhook_ms / 1000)
        assert_heard_once(phone.tones_heard(700), self._after_webhook_ms)
        assert len({each.id for each in self._hooks.requests_to("/next")}) == 1

    async def _expect_bridged(self, kind: str) -> None:
        await self.phones[kind].until_hears(500)
        await self.far[kind].until_hears(400)

    async def _hang_up_far_end(self, kind: str) -> None:
        await self.far[kind].hang_up()
        after = await self._hooks.wait_for_request(f"/after-{kind}")
        assert after.body["dial"]["status"] == "completed"
        assert len(self._hooks.requests_to(f"/after-{kind}")) == 1
        await self.phones[kind].wait_ended()
