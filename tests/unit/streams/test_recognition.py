"""A stream to a recognizer, in virtual time: what it reports, and what a caller's sounds do."""

import json
from array import array
from typing import Any

import msgspec
import pytest

from streams.bots.limits import MAX_INVALID, MAX_UTTERANCES, Accounts
from streams.bots.protocols.protocol import StreamName
from streams.control.service import protocol_of
from streams.pbx import PbxEvent
from streams.stream.audio import linear
from streams.stream.context import StreamContext
from streams.stream.metrics import StreamMetrics
from streams.stream.stream import Stream
from streams.stream.transcription import GAP_MS, MAX_WAITING, READY_MS
from streams.stream.voice import VoiceJudges
from tests.harness.executors import InlineExecutor
from tests.unit.streams.bot_lab import TimedStream
from tests.unit.streams.fixed_model import FixedModel
from tests.unit.streams.recording_links import RecordingBot, RecordingPbx
from wire.streams.recognizer import RecognizerStart
from wire.streams.setup import (
    ActionMessage,
    BargeIn,
    BotAddress,
    DigitMessage,
    StreamSetup,
    TextMessage,
)
from wire.streams.setup import Recognition as RecognitionSetup

AUDIO = linear(8000)
QUIET = AUDIO.silence
SOUND = array("h", [9000, -9000] * 80).tobytes()
SOFT = array("h", [200, -200] * 80).tobytes()  # no sound for the gateway
WALL_MS = 1_000_000


class Lab(TimedStream):
    """One stream, its ends, and a clock that a test moves."""

    def __init__(self, mode: BargeIn = "off", voice: float = 0.9) -> None:
        self.now_ms = 0.0
        self.models: list[FixedModel] = []
        self.reports: list[dict[str, Any]] = []
        self.metrics = StreamMetrics()
        self.pbx, self.bot = RecordingPbx(), RecordingBot()
        context = StreamContext(
            lambda: self.now_ms,
            lambda: WALL_MS + self.now_ms,
            lambda report: self.reports.append(msgspec.to_builtins(report)),
            self.metrics,
            VoiceJudges(lambda _rate: self._model(voice), InlineExecutor()),
            Accounts(),
        )
        recognition = RecognitionSetup("grammar", RecognizerStart())
        setup = StreamSetup(
            "ws://pbx/media/1", BotAddress("", "recognizer"), "acme", "c",
            track="caller", is_fork=True, barge_in=mode, recognition=recognition,
        )  # fmt: skip
        protocol = protocol_of(StreamName("c.w1", setup))
        self.stream = Stream("c.w1", setup, protocol, context, lambda _, last: context.report(last))
        self.stream.attach(self.pbx, self.bot)

    def _model(self, voice: float) -> FixedModel:
        self.models.append(FixedModel(voice))
        return self.models[-1]

    @property
    def windows(self) -> int:
        """How many windows of 32 ms were judged."""
        return sum(each.windows for each in self.models)

    def connect(self) -> "Lab":
        """Connect both ends; the recognizer accepts its start."""
        self.stream.media_started(PbxEvent("MEDIA_START", format="slin"))
        self.stream.bot_connected()
        self.say(type="ready", recognizer="grammar")
        return self

    def say(self, **message: Any) -> None:
        """Have the recognizer send a message."""
        self.stream.read_text(json.dumps(message).encode())

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the reports of a kind."""
        return [each for each in self.reports if each["type"] == kind]

    def outcomes(self) -> list[str]:
        """Return what was decided about the prompt."""
        return [each["outcome"] for each in self.of("barge-in")]


def test_an_utterance_is_reported() -> None:
    """Its times are those of the audio, by the wall clock; the voice is the gateway's opinion."""
    lab = Lab().connect()
    lab.hear(*[QUIET] * 10, *[SOUND] * 3)
    lab.say(type="speech-started", atMs=200)
    lab.hear(*[SOUND] * 17, *[QUIET] * 15)
    lab.say(type="speech-ended", atMs=600)
    lab.wait(30)
    lab.say(type="final", text="sales", confidence=0.93, startMs=200, endMs=600)
    connected, began, ended, transcript = lab.reports
    assert (connected["type"], connected["stream"]) == ("connected", "c.w1")
    assert (began["by"], began["isSpeaking"], began["atMs"]) == ("caller", True, WALL_MS + 200)
    assert (ended["isSpeaking"], ended["atMs"]) == (False, WALL_MS + 600)
    assert transcript == {
        "type": "transcript", "stream": "c.w1", "text": "sales", "confidence": 0.93,
        "isVoice": True, "atMs": WALL_MS + 930,
    }  # fmt: skip


def test_a_cough_is_no_voice() -> None:
    """Whatever the recognizer makes of it."""
    lab = Lab(voice=0.1).connect()
    lab.hear(*[SOUND] * 3)
    lab.say(type="speech-started", atMs=0)
    lab.hear(*[SOUND] * 4, *[QUIET] * 15)
    lab.say(type="speech-ended", atMs=140)
    lab.say(type="final", text="", confidence=0.0, startMs=0, endMs=140)
    assert lab.of("transcript")[0]["isVoice"] is False


def test_a_snapshot_has_the_last_words() -> None:
    """An engine that was away needs them; a noise after them tells it nothing."""
    lab = Lab(voice=0.1).connect()
    for text in ("", "sales", ""):
        lab.say(type="speech-started", atMs=0)
        lab.say(type="speech-ended", atMs=0)
        lab.say(type="final", text=text, confidence=0.9, startMs=0, endMs=0)
    transcript = lab.stream.live().transcript
    assert transcript is not None
    assert transcript.text == "sales"


def test_a_voice_counts_for_its_own_utterance() -> None:
    """Also if the transcript of the one before is late."""
    lab = Lab(voice=0.1).connect()
    lab.hear(*[SOUND] * 3)
    lab.say(type="speech-started", atMs=0)
    lab.hear(*[SOUND] * 4, *[QUIET] * 15)
    lab.say(type="speech-ended", atMs=140)
    for model in lab.models:
        model.probability = 0.9
    lab.hear(*[SOUND] * 3)
    lab.say(type="speech-started", atMs=440)
    lab.hear(*[SOUND] * 10)
    lab.say(type="final", text="", confidence=0.0, startMs=0, endMs=140)
    lab.say(type="speech-ended", atMs=700)
    lab.say(type="final", text="sales", confidence=0.9, startMs=440, endMs=700)
    assert [each["isVoice"] for each in lab.of("transcript")] == [False, True]


def test_a_soft_voice_is_judged_from_its_beginning() -> None:
    """The gateway has noticed no sound, and the recognizer reports it late."""
    lab = Lab().connect()
    lab.hear(*[QUIET] * 5, *[SOFT] * 12)
    lab.say(type="speech-started", atMs=100)
    lab.hear(SOFT)
    lab.say(type="speech-ended", atMs=360)
    lab.say(type="final", text="yes", confidence=0.9, startMs=100, endMs=360)
    assert lab.of("transcript")[0]["isVoice"] is True


def test_silence_and_what_was_recognized_as_a_voice_are_not_judged() -> None:
    """The detector is what costs most."""
    lab = Lab().connect()
    lab.hear(*[QUIET] * 100, *[SOUND] * 100)
    assert lab.windows == 0
    lab.say(type="speech-started", atMs=2000)
    lab.hear(*[SOUND] * 20)
    judged = lab.windows
    assert judged > 0
    lab.hear(*[SOUND] * 20)
    assert lab.windows == judged


def test_a_sound_has_one_judge() -> None:
    """For the prompt and for the utterance; it is given back."""
    lab = Lab("pause", voice=0.1).connect()
    for number in range(20):
        lab.hear(*[SOUND] * 3)
        lab.say(type="speech-started", atMs=number * 500)
        lab.hear(*[SOUND] * 5, *[QUIET] * 17)
        lab.say(type="speech-ended", atMs=number * 500 + 160)
    used = [each for each in lab.models if each.windows]
    assert len(used) == 1


@pytest.mark.parametrize(
    ("mode", "voice", "outcomes"),
    [
        ("off", 0.9, []),
        ("flush", 0.1, ["flushed"]),
        ("pause", 0.1, ["paused", "resumed"]),
        ("pause", 0.9, ["paused", "flushed"]),
    ],
)
def test_what_a_sound_does_to_a_prompt(mode: BargeIn, voice: float, outcomes: list[str]) -> None:
    """As if one were audible: the PBX plays it. Bots' interruptions are counted elsewhere."""
    lab = Lab(mode, voice).connect()
    lab.hear(*[QUIET] * 5, *[SOUND] * 9, *[QUIET] * 20)
    lab.stream.end("stopped")
    assert lab.outcomes() == outcomes
    assert lab.metrics.barge_ins.total == 0
    assert lab.pbx.sent == []


def test_a_pause_ends_without_frames() -> None:
    """A telephone that sends no silence: silence is what it means."""
    lab = Lab("pause", voice=0.1).connect()
    lab.hear(*[SOUND] * 3)
    lab.wait(500)
    assert lab.outcomes() == ["paused", "resumed"]


def test_a_noise_pauses_400_ms_at_most() -> None:
    """Also if the next frame of it is late."""
    lab = Lab("pause", voice=0.1).connect()
    lab.hear(*[SOUND] * 21)
    lab.wait(10)
    assert lab.outcomes() == ["paused"]
    lab.wait(10)
    assert lab.outcomes() == ["paused", "resumed"]


def test_a_pause_ends_with_the_stream() -> None:
    """A recognizer that is lost stops no prompt."""
    lab = Lab("pause", voice=0.1).connect()
    lab.hear(*[SOUND] * 3)
    lab.stream.bot_lost("bot-lost", "")
    assert [(each["outcome"], each["heardMs"]) for each in lab.of("barge-in")] == [
        ("paused", 0),
        ("resumed", 0),
    ]
    assert lab.reports[-1]["type"] == "ended"


def test_a_prompt_is_left_alone_until_the_recognizer_listens() -> None:
    """It may never do so."""
    lab = Lab("flush")
    lab.stream.bot_connected()
    lab.hear(*[SOUND] * 10)
    assert lab.reports == []


def test_what_is_said_during_the_connection_is_sent() -> None:
    """In order, before what follows; positions count it."""
    lab = Lab()
    lab.hear(SOFT, SOUND)
    lab.connect()
    lab.hear(QUIET)
    assert lab.bot.audio == [SOFT, SOUND, QUIET]
    lab.say(type="speech-started", atMs=20)
    assert lab.of("speech")[0]["atMs"] == WALL_MS + 20


def test_what_is_kept_for_a_connection_has_an_end() -> None:
    """Five seconds."""
    lab = Lab()
    lab.hear(*[SOUND] * 260)
    lab.connect()
    assert len(lab.bot.audio) == 250


def test_silence_replaces_missing_frames() -> None:
    """All that are missing, once it is clear that none comes; then each in its time."""
    lab = Lab().connect()
    lab.hear(SOUND)
    lab.wait(GAP_MS - 10)
    assert lab.bot.audio == [SOUND]
    lab.wait(10)
    assert lab.bot.audio == [SOUND] + [QUIET] * (GAP_MS // 20)
    lab.wait(100)
    assert len(lab.bot.audio) == 1 + GAP_MS // 20 + 5
    lab.hear(SOUND)
    lab.wait(GAP_MS - 10)
    assert lab.bot.audio[-1] == SOUND


def test_a_recognizer_that_does_not_accept_is_unreachable() -> None:
    """After five seconds."""
    lab = Lab()
    lab.wait(100)
    lab.stream.bot_connected()
    lab.wait(READY_MS - 10)
    assert lab.reports == []
    lab.wait(10)
    (ended,) = lab.reports
    assert (ended["reason"], ended["detail"]) == ("unreachable", "no `ready` in 5 s")
    assert ended["durationMs"] == 0
    assert lab.bot.is_closed


@pytest.mark.parametrize(
    ("code", "reason"), [("overloaded", "bot-lost"), ("unsupported-language", "bot-closed")]
)
def test_an_error_ends_the_stream(code: str, reason: str) -> None:
    """Its code and message are the detail."""
    lab = Lab().connect()
    lab.say(type="error", code=code, message="because")
    ended = lab.reports[-1]
    assert (ended["reason"], ended["detail"]) == (reason, f"{code}: because")
    assert json.loads(lab.bot.texts[-1]) == {"type": "stop"}


def test_control_characters_of_a_recognizer_are_not_reported() -> None:
    """They would be shown in terminals, logs and webhooks."""
    lab = Lab().connect()
    lab.say(type="speech-started", atMs=0)
    lab.say(type="speech-ended", atMs=0)
    lab.say(type="final", text="\x1b[31msales\u202e\n", confidence=1)
    lab.say(type="error", code="failed", message="be\x07cause\r\n")
    assert lab.of("transcript")[0]["text"] == "[31msales"
    assert lab.reports[-1]["detail"] == "failed: be cause"


@pytest.mark.parametrize(
    "kinds",
    [
        ["final"],
        ["speech-ended"],
        ["speech-started", "speech-started"],
        ["speech-started", "final"],
        ["speech-started", "speech-ended", "final", "final"],
    ],
)
def test_messages_out_of_order_are_invalid(kinds: list[str]) -> None:
    """Too many of them end the stream."""
    lab = Lab().connect()
    for kind in kinds * 30:
        lab.say(type=kind, atMs=0, text="x", confidence=1, startMs=0, endMs=0)
    assert lab.reports[-1]["reason"] == "invalid-message"


def test_utterances_without_a_transcript_have_an_end() -> None:
    """A recognizer that sends none is of no use."""
    lab = Lab().connect()
    for _ in range(MAX_WAITING + MAX_INVALID):
        lab.say(type="speech-started", atMs=0)
        lab.say(type="speech-ended", atMs=0)
        lab.wait(300)
    assert lab.reports[-1]["reason"] == "invalid-message"
    assert [each["isSpeaking"] for each in lab.of("speech")].count(False) == MAX_WAITING


def test_positions_outside_the_audio_are_moved_into_it() -> None:
    """A recognizer cannot hear the future."""
    lab = Lab().connect()
    lab.hear(*[QUIET] * 10)
    lab.say(type="speech-started", atMs=-5_000_000)
    lab.say(type="speech-ended", atMs=5_000_000)
    assert [each["atMs"] for each in lab.of("speech")] == [WALL_MS, WALL_MS + 200]


def test_messages_of_engines_do_not_reach_it() -> None:
    """Texts, digits and actions are for bots."""
    lab = Lab().connect()
    lab.stream.send("1", TextMessage("hello"))
    lab.stream.send("2", DigitMessage("5"))
    lab.stream.send("3", ActionMessage("started"))
    lab.hear(SOUND)
    assert len(lab.bot.texts) == 1  # its start
    assert lab.bot.audio == [SOUND]


def test_utterances_are_counted_by_result() -> None:
    """And how long their transcripts took."""
    lab = Lab().connect()
    for text in ("sales", "", "support"):
        lab.hear(*[SOUND] * 10)
        lab.say(type="speech-started", atMs=0)
        lab.say(type="speech-ended", atMs=lab.stream.live().heard_ms + 10_000)
        lab.wait(40)
        lab.say(type="final", text=text, confidence=0.9, startMs=0, endMs=0)
    assert dict(lab.metrics.utterances) == {("understood",): 2, ("not-understood",): 1}
    assert lab.metrics.transcript_latency.count == 3
    assert lab.metrics.transcript_latency.series().total == pytest.approx(0.12)


def test_nothing_counts_before_it_is_ready() -> None:
    """An utterance would end a gather whose recognizer has not even accepted its start."""
    lab = Lab()
    lab.stream.media_started(PbxEvent("MEDIA_START", format="slin"))
    lab.stream.bot_connected()
    lab.say(type="speech-started", atMs=0)
    lab.say(type="speech-ended", atMs=100)
    lab.say(type="ready", recognizer="grammar")
    (ended,) = lab.reports
    assert ended["reason"] == "invalid-message"
    assert ended["detail"] == "the recognizer sent a result before `ready`"


@pytest.mark.parametrize(("wait_ms", "count"), [(9_990, MAX_UTTERANCES), (10_000, 2 * 40)])
def test_more_utterances_than_anybody_can_say(wait_ms: int, count: int) -> None:
    """The detector of voices would hear the last half second again and again."""
    lab = Lab(voice=0.1).connect()
    lab.hear(*[SOUND] * 30)
    for number in range(2 * 40):
        if number == 40:
            lab.wait(wait_ms)
        lab.say(type="speech-started", atMs=100)
        lab.say(type="speech-ended", atMs=600)
        lab.say(type="final", text="", confidence=0)
    assert len(lab.of("transcript")) == count
    assert [(each["reason"], each["detail"]) for each in lab.of("ended")] == [
        ("too-fast", "more than 50 utterances in ten seconds")
    ] * (count == MAX_UTTERANCES)


def test_its_last_report_repeats_the_transcript() -> None:
    """An engine that was away when it came learns it from the next snapshot."""
    lab = Lab().connect()
    lab.hear(*[SOUND] * 10)
    lab.say(type="speech-started", atMs=0)
    lab.say(type="speech-ended", atMs=100)
    lab.say(type="final", text="yes", confidence=1)
    lab.stream.bot_lost("bot-lost", "the connection broke")
    (ended,) = lab.of("ended")
    assert ended["transcript"]["text"] == "yes"
