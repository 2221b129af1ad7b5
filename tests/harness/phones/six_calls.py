"""Six calls in different states, and checks that each one continues.

The states: a prompt plays, digits are half entered, a dialled phone rings, two parties talk, one of
two parties is on hold, a webhook is pending. None ends before the test has seen that it continues.
"""

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import Any, Self

from aiohttp import web

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.audio import assert_heard_in_order, assert_uninterrupted
from tests.harness.phones.phone import NEVER_MS, Phone
from tests.harness.ports import free_port
from tests.harness.servers.engine import RequestError
from tests.harness.until import until

LASTS_MS = 300_000  # a gather or a dial, until the test presses the last key or picks up
PROMPT_MS = 60_000  # until the test hangs up
HEARD_MS = 500  # of a prompt, to know that it plays
ANSWER_WITHIN_S = 9  # an engine waits 15 s for a response
KINDS = ("prompt", "gather", "ring", "talk", "hold", "ask")


class SixCalls:
    """Call ids by kind in `ids`; first legs in `phones`, dialled legs in `far`.

    `others` are engines that may take the calls over.
    """

    def __init__(self, lab: Lab, hooks: WebhookServer, sounds: MediaServer, *others: Lab) -> None:
        self.ids: dict[str, str] = {}
        self.phones: dict[str, Phone] = {}
        self.far: dict[str, Phone] = {}
        self._lab = lab
        self._others = others
        self._hooks = hooks
        self._prompt = {"type": "play", "data": {"audioUrl": sounds.sweep(PROMPT_MS)}}
        self._may_answer = asyncio.Event()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Start all calls and bring each into its state."""
        await asyncio.gather(*map(self.warm_up, self._others))
        await asyncio.gather(*map(self._start, KINDS))
        await self.phones["prompt"].until_sounds(HEARD_MS)
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
        async with Phone.answering(free_port()) as phone:
            call = await lab.call(to=phone.address, action=self._prompt)
            await phone.until_sounds(HEARD_MS)
            await phone.hang_up()
            await lab.wait_ended(call)

    async def control(self, lab: Lab, kind: str, operation: str, **more: object) -> None:
        """Control the first leg of a call through an engine; raises RequestError."""
        call = self.ids[kind]
        body = {"channelId": f"{call}.l0", **more}
        await lab.engine.rpc("POST", f"/calls/{call}/{operation}", body)

    async def wait_controllable(self, lab: Lab) -> None:
        """Wait until all calls can be controlled through an engine."""
        await asyncio.gather(*(self._wait_for_control(lab, kind) for kind in self.ids))

    async def wait_talked(self, for_ms: float) -> None:
        """Wait until one of the two parties that talk has heard the other for so long."""
        phone = self.phones["talk"]
        enough_ms = phone.heard_ms(500) + for_ms
        await until(
            lambda: phone.heard_ms(500) >= enough_ms, every_s=0.2, what="the conversation to go on"
        )

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
            after_ms = NEVER_MS if kind == "ring" else 1
            answering = Phone.answering(free_port(), tone_hz=500, after_ms=after_ms)
            self.far[kind] = await self._enter(answering)
        self.ids[kind] = await self._lab.call(to=phone.address, action=self._action(kind))

    def _action(self, kind: str) -> object:
        match kind:
            case "prompt":
                return self._prompt
            case "gather":
                data = {"maxDigits": 2, "timeout": LASTS_MS, "digitTimeout": LASTS_MS}
                result = self._hooks.answers("/result", None)
                return {"type": "gather", "data": data, "action": result}
            case "ask":
                return self._hooks.answers("/next", self._answer)
            case _:
                after = self._hooks.answers(f"/after-{kind}", None)
                party = {"number": self.far[kind].address}
                return {"type": "dial", "data": party, "action": after, "timeout": LASTS_MS // 1000}

    async def _answer(self, _request: web.Request) -> web.Response:
        """Respond with a prompt when the test wants it, but within the engine's limit."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_WITHIN_S):
                await self._may_answer.wait()
        return web.json_response(self._prompt)

    async def _enter(self, phone: Any) -> Phone:
        opened: Phone = await self._stack.enter_async_context(phone)
        return opened

    async def _is_stored(self) -> bool:
        stories = [await self._lab.timeline_events(self.ids[kind]) for kind in ("gather", "ring")]
        happened = [[each["type"] for each in story] for story in stories]
        return "digit-pressed" in happened[0] and "leg-ringing" in happened[1]

    async def _wait_for_control(self, lab: Lab, kind: str) -> None:
        async def is_done() -> bool:
            try:
                await self.control(lab, kind, "mute", direction="in")
                await self.control(lab, kind, "unmute")
            except RequestError as refused:
                if refused.status != 503:
                    raise
                return False
            return True

        await until(is_done, what=f"{kind} to be controlled")

    async def _finish_prompt(self, kind: str = "prompt") -> None:
        """Assert that a prompt is heard on, without a gap or a repetition; then hang up."""
        await self.phones[kind].until_sounds(HEARD_MS)
        await self.phones[kind].hang_up()
        assert_heard_in_order(self.phones[kind].frames, PROMPT_MS)

    async def _finish_gather(self) -> None:
        await self.phones["gather"].press("2")
        result = await self._hooks.wait_for_request("/result")
        assert (result.body["dtmf"], result.body["reason"]) == ("12", "max-digits")

    async def _finish_ring(self) -> None:
        await self.far["ring"].pick_up()
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
        self._may_answer.set()
        await self._finish_prompt("ask")
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
