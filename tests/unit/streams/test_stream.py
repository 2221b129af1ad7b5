"""A stream to a bot, in virtual time: its marks, and what it hears during an action."""

import json
from typing import Any

import msgspec
import pytest

from streams.bots.limits import MAX_INVALID, MAX_MARKS, MAX_PENDING_MARKS
from streams.bots.protocols.protocol import StreamName
from streams.bots.protocols.protocols import protocol_of
from streams.pbx.messages import PbxEvent
from streams.stream.audio import linear
from streams.stream.context import StreamContext
from streams.stream.mark_names import MAX_REPORTED_CHARS
from streams.stream.metrics import StreamMetrics
from streams.stream.reporter import MAX_DETAIL_CHARS
from streams.stream.silence_clock import GAP_MS
from streams.stream.stream import Stream
from streams.stream.voice import VoiceJudges
from tests.unit.streams.executors import InlineExecutor
from tests.unit.streams.fixed_model import FixedModel
from tests.unit.streams.recording_links import RecordingBot, RecordingPbx
from wire.streams.setup import ActionMessage, BargeIn, BotAddress, StreamSetup

SILENCE = linear(8000).silence
SOUND = b"\x23" * len(SILENCE)


class Lab:
    """One connected stream of the native protocol, its ends, and a clock that a test moves."""

    def __init__(self, *, is_fork: bool = False, barge_in: BargeIn = "off") -> None:
        self.now_ms = 0.0
        self.reports: list[dict[str, Any]] = []
        self.pbx, self.bot = RecordingPbx(), RecordingBot()
        self.metrics = StreamMetrics()
        judges = VoiceJudges(lambda _rate: FixedModel(0.9), InlineExecutor())
        context = StreamContext(
            lambda: self.now_ms,
            lambda: self.now_ms,
            lambda report: self.reports.append(msgspec.to_builtins(report)),
            self.metrics,
            judges,
        )
        address = BotAddress("wss://bot.example/", "native")
        setup = StreamSetup(
            "ws://pbx/media/1", address, "acme", "c", is_fork=is_fork, barge_in=barge_in
        )
        protocol = protocol_of(StreamName("c.w1", setup))
        self.stream = Stream("c.w1", setup, protocol, context, lambda _, last: context.report(last))
        self.stream.attach(self.pbx, self.bot)
        self.stream.media_started(PbxEvent("MEDIA_START", format="slin"))
        self.stream.bot_connected()

    def say(self, **message: Any) -> None:
        """Have the bot send a message."""
        self.stream.read_text(json.dumps(message).encode())

    def mark(self, count: int) -> None:
        """Have the bot send marks."""
        for number in range(count):
            self.say(event="mark", name=str(number))

    def wait(self, length_ms: int) -> None:
        """Let time pass."""
        for _ in range(length_ms // 10):
            self.now_ms += 10
            self.stream.tick()

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the reports of a kind."""
        return [each for each in self.reports if each["type"] == kind]


def test_a_long_name_of_a_mark_is_short_in_reports() -> None:
    """Its bot gets all of it back."""
    lab, name = Lab(), "a" * (MAX_REPORTED_CHARS + 1)
    lab.say(event="mark", name=name)
    lab.stream.mark_returned("m1")
    assert [each["name"] for each in lab.of("mark")] == [name[:-1]]
    assert json.loads(lab.bot.texts[-1])["name"] == name
    lab.stream.end("stopped")
    assert lab.of("ended")[0]["lastMark"] == name[:-1]


def test_a_name_of_a_mark_has_no_control_characters_in_reports() -> None:
    """They are shown in terminals; the bot gets its own name back."""
    lab = Lab()
    name = "\x1b[2Jhello\u202e"
    lab.say(event="mark", name=name)
    lab.stream.mark_returned("m1")
    assert [each["name"] for each in lab.of("mark")] == ["[2Jhello"]
    assert json.loads(lab.bot.texts[-1])["name"] == name


def test_too_many_marks_end_a_stream_at_last() -> None:
    """The first ones of them are ignored."""
    lab = Lab()
    lab.mark(MAX_MARKS + MAX_INVALID)
    assert not lab.stream.is_ended
    lab.mark(1)
    assert lab.of("ended")[0]["reason"] == "invalid-message"


def test_a_clear_reports_few_marks() -> None:
    """However long the bot has sent them."""
    lab = Lab()
    for _ in range(2):
        lab.mark(MAX_PENDING_MARKS // 2)
        lab.now_ms += 10_000
    lab.mark(MAX_INVALID)
    lab.say(event="clear")
    assert len(lab.of("mark")) == MAX_PENDING_MARKS
    lab.mark(1)
    lab.say(event="clear")
    assert len(lab.of("mark")) == MAX_PENDING_MARKS + 1


def test_a_mark_says_what_was_heard_and_when() -> None:
    """How much of the bot's audio was played, and the time since the bot was connected."""
    lab = Lab()
    lab.wait(1_000)
    lab.stream.read_binary(SOUND * 5)
    lab.wait(200)
    lab.say(event="mark", name="m")
    (key,) = (each for each in lab.pbx.sent if str(each).startswith("mark "))
    lab.stream.mark_returned(str(key).removeprefix("mark "))
    reported = json.loads(lab.bot.texts[-1])
    assert (reported["heardMs"], reported["atMs"]) == (100, 1_200)


def test_a_bot_hears_silence_while_its_action_has_the_caller() -> None:
    """A frame each 20 ms, from the start of the action to its end."""
    lab = Lab()
    lab.wait(1000)
    lab.stream.hear_caller(SOUND)
    lab.wait(1000)
    assert len(lab.bot.audio) == 1
    lab.stream.send("1", ActionMessage("started"))
    lab.wait(GAP_MS - 10)
    assert len(lab.bot.audio) == 1
    lab.wait(1000 - GAP_MS + 10)
    heard = lab.bot.audio[1:]
    assert len(heard) == 50
    assert all(each.endswith(SILENCE) for each in heard)
    lab.stream.send("2", ActionMessage("ended"))
    lab.wait(1000)
    assert len(lab.bot.audio) == 51


def test_no_silence_is_added_to_the_frames_of_a_caller() -> None:
    """A frame may be late."""
    lab = Lab()
    lab.stream.send("1", ActionMessage("started"))
    for wait_ms in (20, 60, 10, 10, 20):
        lab.wait(wait_ms)
        lab.stream.hear_caller(SOUND)
    assert len(lab.bot.audio) == 5
    assert all(each.endswith(SILENCE) for each in lab.bot.audio)


@pytest.mark.parametrize("is_fork", [False, True])
@pytest.mark.parametrize("is_acting", [False, True])
def test_a_caller_may_interrupt_a_bot_that_can_be_heard(is_fork: bool, is_acting: bool) -> None:
    """The turns of others are nothing to a fork, or to a bot whose action has the caller."""
    lab = Lab(is_fork=is_fork)
    if is_acting:
        lab.stream.send("1", ActionMessage("started"))
    for _ in range(10):
        lab.wait(20)
        lab.stream.hear_caller(SOUND)
    assert len(lab.of("speech")) == (not is_fork and not is_acting)


def test_a_bot_learns_that_it_was_interrupted() -> None:
    """With how much of its audio the caller has heard."""
    lab = Lab(barge_in="flush")
    lab.wait(1_000)
    lab.stream.read_binary(SOUND * 50)
    for _ in range(10):
        lab.wait(20)
        lab.stream.hear_caller(SOUND)
    (report,) = lab.of("barge-in")
    (sent,) = (json.loads(each) for each in lab.bot.texts if b"bargeIn" in each)
    assert sent["bargeIn"] == {"outcome": "flushed", "heardMs": report["heardMs"]}


def test_a_long_reason_of_an_end_is_cut() -> None:
    """A bot chooses it; it has no control characters in a terminal."""
    lab = Lab()
    lab.stream.end("bot-closed", "\x1b" + "x" * (MAX_DETAIL_CHARS + 1))
    assert lab.of("ended")[0]["detail"] == "x" * MAX_DETAIL_CHARS


def test_the_first_sound_of_a_bot_is_measured() -> None:
    """From its acceptance; silence is no sound, and later ones are turns."""
    lab = Lab()
    lab.stream.read_binary(SILENCE * 5)
    lab.wait(500)
    first_audio = lab.metrics.first_audio.series()
    assert first_audio.count == 0
    for _ in range(2):
        lab.stream.read_binary(SOUND * 5)
        lab.wait(1_000)
    assert first_audio.count == 1
    assert 0.5 <= first_audio.total <= 0.6
