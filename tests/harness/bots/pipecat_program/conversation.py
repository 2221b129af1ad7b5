"""What one conversation of the bot was about, for tests that look at it over HTTP."""

from dataclasses import dataclass, field

from pipecat.frames.frames import Frame, InputDTMFFrame, InterruptionFrame, LLMContextFrame
from pipecat.frames.frames import LLMFullResponseEndFrame as ResponseEnd
from pipecat.frames.frames import LLMFullResponseStartFrame as ResponseStart
from pipecat.frames.frames import LLMTextFrame as ResponseText
from pipecat.frames.frames import OutputTransportMessageUrgentFrame as Message
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor


@dataclass
class Conversation:
    """One stream: what the start message said, what was understood, how it went."""

    call: str
    stream: str
    parameters: dict[str, str]
    heard: list[str] = field(default_factory=list)
    digits: str = ""
    interruptions: int = 0
    is_over: bool = False


class Repeater(FrameProcessor):
    """Stands in for a language model: says what the caller said; at first it talks on for 15 s.

    The digit 0 connects the caller with the party of the parameter `operator`.
    """

    def __init__(self, conversation: Conversation) -> None:
        super().__init__()
        self._conversation = conversation

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Respond to the caller's last message; other frames pass."""
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMContextFrame):
            await self._respond(frame.context.messages[-1]["content"])
            return
        if isinstance(frame, InterruptionFrame):
            self._conversation.interruptions += 1
        elif isinstance(frame, InputDTMFFrame):
            self._conversation.digits += frame.button.value
            if frame.button.value == "0":
                await self._connect(self._conversation.parameters["operator"])
        await self.push_frame(frame, direction)

    async def _respond(self, text: str) -> None:
        more = () if self._conversation.heard else CHATTER
        self._conversation.heard.append(text)
        await self.push_frame(ResponseStart())
        for sentence in (f"You said: {text.strip()}", *more):
            await self.push_frame(ResponseText(f" {sentence}"))
        await self.push_frame(ResponseEnd())

    async def _connect(self, party: str) -> None:
        dial = {"type": "dial", "data": {"number": party}}
        await self.push_frame(Message(message={"event": "switchroom", "action": dial}))


CHATTER = (
    "I have understood every word of that, and I will now talk for quite a while.",
    "You can interrupt me whenever you like, because I listen while I talk.",
    "Many people let me finish, although there is no reason at all to do so.",
    "If you wait for much longer, then you will hear the last of my sentences.",
)
