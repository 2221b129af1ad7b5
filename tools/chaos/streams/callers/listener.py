"""A caller in a gather: hears a prompt whose pitch rises, and then says a word."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct

from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.phones.audio import FRAME_MS, Frame, Samples, is_sound, skips_ms
from tests.harness.phones.rtp import RtpLine
from tests.harness.until import until
from tools.chaos.streams.callers.sip_call import SipCall

PROMPT_MS = 10_000
WORD_TIMEOUT_S = 12.0
MAX_STOP_S = 15.0  # of a prompt, until nothing more is expected of it
_TOLERANCE_MS = 2 * FRAME_MS
_SKIP_MS = FRAME_MS / 2


class ListenerNotice(Struct, frozen=True):
    """What one listener noticed of a fault, and what its webhook learned of its word."""

    word: str
    prompt_ms: int
    longest_skip_ms: float
    answers: list[dict[str, Any]]

    @property
    def is_prompt_whole(self) -> bool:
        """Whether nothing of the prompt is missing, and nothing was heard twice."""
        return abs(self.prompt_ms - PROMPT_MS) <= _TOLERANCE_MS and self.longest_skip_ms < _SKIP_MS

    @property
    def is_understood(self) -> bool:
        """Whether the webhook got the word, once."""
        found = [(each["reason"], each.get("speech")) for each in self.answers]
        return found == [("speech", self.word)]


class PromptListener:
    """One call; `path` is that of its webhook, `word` what is said after the prompt."""

    def __init__(self, number: str, path: str, word: str) -> None:
        self.sip = SipCall()
        self.heard_ms = 0  # of the prompt
        self._number = number
        self._path = path
        self._word = word
        self._line = RtpLine(0)
        self._line.on_frame = self._hear

    async def call(self, sip_port: int) -> None:
        """Call the number, and be quiet."""
        port = await self.sip.call(sip_port, self._number, await self._line.open())
        self._line.speak_to(port)
        self._line.send_silence()

    def close(self) -> None:
        """End the phone, which does not hang up."""
        self._line.close()
        self.sip.close()

    def cough(self, sound: Samples) -> None:
        """Make a sound that is no speech."""
        self._line.feed(sound)

    async def wait_prompt_over(self) -> None:
        """Wait until the prompt was heard whole, or stays silent."""
        with suppress(TimeoutError):
            await until(
                lambda: self.heard_ms >= PROMPT_MS - FRAME_MS, timeout_s=MAX_STOP_S, every_s=0.2
            )

    async def say(self, speech: Mapping[str, Samples], hooks: WebhookServer) -> None:
        """Say the word, and wait for what the webhook gets."""
        await self._line.say(speech[self._word])
        with suppress(TimeoutError):
            await hooks.wait_for_request(self._path, timeout_s=WORD_TIMEOUT_S)

    def notice(self, hooks: WebhookServer) -> ListenerNotice:
        """Return what was noticed; takes a tenth of a second."""
        answers = [each.body for each in hooks.requests_to(self._path)]
        skip_ms = max(map(abs, skips_ms(self._line.frames)), default=0.0)
        return ListenerNotice(self._word, self.heard_ms, skip_ms, answers)

    def _hear(self, frame: Frame) -> None:
        self.heard_ms += is_sound(frame.samples) * FRAME_MS
