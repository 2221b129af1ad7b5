"""A stream to a bot between two ends that keep what they get, and a clock that a test moves."""

import json
from typing import Any

import msgspec

from streams.bots.limits import Accounts
from streams.bots.protocols.protocol import StreamName
from streams.control.service import protocol_of
from streams.pbx import PbxEvent
from streams.stream.audio import linear
from streams.stream.context import StreamContext
from streams.stream.metrics import StreamMetrics
from streams.stream.stream import Stream
from streams.stream.voice import VoiceJudges
from tests.harness.executors import InlineExecutor
from tests.unit.streams.fixed_model import FixedModel
from tests.unit.streams.recording_links import RecordingBot, RecordingPbx
from wire.streams.setup import BargeIn, BotAddress, Protocol, StreamSetup

SILENCE = linear(8000).silence
BEGAN_MS = 10_000.0  # of a clock that began before; the time of day begins with the stream
SOUND = b"\x23" * len(SILENCE)


class TimedStream:
    """A stream whose time a test moves."""

    now_ms: float
    stream: Stream

    def hear(self, *frames: bytes) -> None:
        """Have the caller send a frame each 20 ms."""
        for frame in frames:
            self.wait(20)
            self.stream.hear_caller(frame)

    def wait(self, length_ms: int) -> None:
        """Let time pass."""
        for _ in range(length_ms // 10):
            self.now_ms += 10
            self.stream.tick()


class Lab(TimedStream):
    """One stream, its ends, and a clock that a test moves."""

    def __init__(  # noqa: PLR0913 - what tests vary
        self,
        *,
        is_fork: bool = False,
        barge_in: BargeIn = "off",
        voice: float = 0.9,
        account: str = "acme",
        accounts: Accounts | None = None,
        protocol: Protocol = "native",
        is_connected: bool = True,
    ) -> None:
        self.now_ms = BEGAN_MS
        self.reports: list[dict[str, Any]] = []
        self.pbx, self.bot = RecordingPbx(), RecordingBot()
        self.metrics = StreamMetrics()
        self.models: list[FixedModel] = []
        self.judges = VoiceJudges(lambda _rate: self._model(voice), InlineExecutor())
        context = StreamContext(
            lambda: self.now_ms,
            lambda: self.now_ms - BEGAN_MS,
            lambda report: self.reports.append(json.loads(msgspec.json.encode(report))),
            self.metrics,
            self.judges,
            accounts or Accounts(),
        )
        address = BotAddress("wss://bot.example/", protocol)
        setup = StreamSetup(
            "ws://pbx/media/1", address, account, "c", is_fork=is_fork, barge_in=barge_in
        )
        self._format = "ulaw" if protocol == "twilio" else "slin"
        self.stream = Stream(
            "c.w1",
            setup,
            protocol_of(StreamName("c.w1", setup)),
            context,
            lambda _, last: context.report(last),
        )
        self.stream.attach(self.pbx, self.bot)
        if is_connected:
            self.connect()

    def _model(self, voice: float) -> FixedModel:
        self.models.append(FixedModel(voice))
        return self.models[-1]

    def connect(self) -> None:
        """Connect both ends."""
        self.stream.media_started(PbxEvent("MEDIA_START", format=self._format))
        self.stream.bot_connected()

    def say(self, **message: Any) -> None:
        """Have the bot send a message."""
        self.stream.read_text(json.dumps(message).encode())

    def mark(self, count: int) -> None:
        """Have the bot send marks."""
        for number in range(count):
            self.say(event="mark", name=str(number))

    @property
    def commands(self) -> list[bytes | str]:
        """What the PBX got besides audio."""
        return [each for each in self.pbx.sent if isinstance(each, str)]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the reports of a kind."""
        return [each for each in self.reports if each["type"] == kind]
