"""What an ear beside a recognizer decides, frame by frame."""

from array import array

from streams.stream.audio import FRAME_MS, linear
from streams.stream.barge_in import MAX_PAUSE_MS, Decision
from streams.stream.ear import UtteranceEar
from streams.stream.voice import VoiceJudges
from tests.harness.executors import InlineExecutor
from tests.unit.streams.fixed_model import FixedModel

AUDIO = linear(8000)
SOUND = array("h", [9000, -9000] * 80).tobytes()
LATE_FRAMES = 5  # with the two before them and one after them, the shortest voice


def ear_after(decision: Decision, voice: float) -> UtteranceEar:
    """Return an ear that has just made a decision about a sound."""
    judges = VoiceJudges(lambda _rate: FixedModel(voice), InlineExecutor())
    ear = UtteranceEar("pause", AUDIO, judges)
    decisions = (ear.hear(SOUND, True, float(number * FRAME_MS)) for number in range(20))
    assert decision in decisions  # it hears no frame after that
    return ear


def test_a_pause_ends_without_a_frame() -> None:
    """A phone may send nothing meanwhile."""
    ear = ear_after("pause", voice=0.1)
    paused_ms = float(ear.heard_ms - FRAME_MS)
    assert ear.tick(paused_ms + MAX_PAUSE_MS - 1) is None
    assert ear.tick(paused_ms + MAX_PAUSE_MS) == "resume"


def test_nothing_is_paused_or_judged_after_the_end() -> None:
    """The next sound at this gateway has the detector."""
    models: list[FixedModel] = []

    def load(_rate: int) -> FixedModel:
        models.append(FixedModel(0.1))
        return models[-1]

    judges = VoiceJudges(load, InlineExecutor())
    ear = UtteranceEar("pause", AUDIO, judges)
    assert [ear.hear(SOUND, True, now_ms) for now_ms in (20.0, 40.0)] == [None, "pause"]
    ear.end()
    assert not ear.is_paused
    judges.lend(AUDIO).hear(SOUND * 2)
    assert [each.windows for each in models if each.windows] == [2]


def test_the_frames_before_an_utterance_belong_to_it() -> None:
    """A recognizer reports where it noticed the utterance, which began two frames before."""
    judges = VoiceJudges(lambda _rate: FixedModel(0.9), InlineExecutor())
    for late, is_voice in ((LATE_FRAMES, True), (LATE_FRAMES - 1, False)):
        ear = UtteranceEar("off", AUDIO, judges)
        for number in range(20):
            ear.hear(SOUND, False, float(number * FRAME_MS))
        ear.utterance_began(ear.heard_ms - late * FRAME_MS)
        ear.hear(SOUND, False, 20.0 * FRAME_MS)
        assert ear.utterance_ended() is is_voice


def test_a_voice_at_the_very_beginning_counts() -> None:
    """The recognizer may report an utterance from where the voice was noticed, but not later."""
    for late_ms, is_voice in ((0, True), (1, False)):
        ear = ear_after("flush", voice=0.9)
        ear.utterance_began(ear.heard_ms + late_ms)
        assert ear.utterance_ended() is is_voice
