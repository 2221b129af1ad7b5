"""What a sound of the caller does to the bot's audio, in virtual time."""

from streams.stream.audio import ULAW
from streams.stream.barge_in import BargeInRule, Muffle
from streams.stream.ear import CallerEar
from streams.stream.voice import VoiceJudges
from tests.harness.executors import InlineExecutor
from tests.unit.streams.fixed_model import FixedModel
from wire.streams.setup import BargeIn

QUIET = ULAW.silence
SOUND = b"\x90\x10" * 80


def ear_of(mode: BargeIn, probability: float) -> CallerEar:
    """Return an ear whose detector has one opinion."""
    judges = VoiceJudges(lambda _rate: FixedModel(probability), InlineExecutor())
    return CallerEar(mode, ULAW, judges)


def hear(ear: CallerEar, frames: list[bytes], begin_ms: int = 0) -> list[tuple[int, str]]:
    """Return when which decision was made."""
    found: list[tuple[int, str]] = []
    for number, frame in enumerate(frames, 1):
        now_ms = begin_ms + number * 20
        _, decision = ear.hear(frame, True, now_ms)
        if decision is not None:
            found.append((now_ms, decision))
    return found


def test_a_cough_pauses() -> None:
    """40 ms after it began, until 120 ms after it ended."""
    frames = [QUIET] * 5 + [SOUND] * 6 + [QUIET] * 30
    assert hear(ear_of("pause", 0.1), frames) == [(140, "pause"), (340, "resume")]


def test_every_cough_pauses_again() -> None:
    """Once the one before is over."""
    ear = ear_of("pause", 0.1)
    frames = ([QUIET] * 20 + [SOUND] * 6 + [QUIET] * 20) * 6
    assert [each for _, each in hear(ear, frames)] == ["pause", "resume"] * 6


def test_a_word_before_a_short_pause_is_no_cough() -> None:
    """What the caller goes on to say is judged, too: it is the same turn."""
    model = FixedModel(0.1)
    ear = CallerEar("pause", ULAW, VoiceJudges(lambda _rate: model, InlineExecutor()))
    assert [each for _, each in hear(ear, [SOUND] * 4 + [QUIET] * 8)] == ["pause", "resume"]
    model.probability = 0.9
    assert [each for _, each in hear(ear, [SOUND] * 20, 240)] == ["flush"]


def test_silence_after_a_sound_is_not_judged() -> None:
    """The detector is what costs most."""
    model = FixedModel(0.1)
    ear = CallerEar("pause", ULAW, VoiceJudges(lambda _rate: model, InlineExecutor()))
    hear(ear, [SOUND] * 6 + [QUIET] * 15)
    judged = model.windows
    assert hear(ear, [QUIET] * 20, 420) == []
    assert model.windows == judged > 0


def test_a_sound_is_judged_from_before_it_was_noticed() -> None:
    """From 100 ms before: its first frames are those of the voice, too."""
    model = FixedModel(0.1)
    ear = CallerEar("pause", ULAW, VoiceJudges(lambda _rate: model, InlineExecutor()))
    assert [each for _, each in hear(ear, [QUIET] * 9 + [SOUND] * 2)] == ["pause"]
    assert model.windows == 5 * 160 // 256


def test_speech_flushes() -> None:
    """When enough windows of 32 ms sound like a voice."""
    decisions = hear(ear_of("pause", 0.9), [QUIET] * 5 + [SOUND] * 40)
    assert [each for _, each in decisions] == ["pause", "flush"]
    assert decisions[1][0] - decisions[0][0] <= 200


def test_a_noise_pauses_400_ms_at_most() -> None:
    """And not again, as long as it lasts."""
    decisions = hear(ear_of("pause", 0.1), [QUIET] * 5 + [SOUND] * 200)
    assert [each for _, each in decisions] == ["pause", "resume"]
    assert decisions[1][0] - decisions[0][0] == 400


def test_a_pause_ends_without_frames() -> None:
    """A phone that sends no silence."""
    ear = ear_of("pause", 0.1)
    assert hear(ear, [SOUND] * 2) == [(40, "pause")]
    assert ear.tick(430.0) is None
    assert ear.tick(440.0) == "resume"


def test_flush_needs_no_detector() -> None:
    """It drops the audio at the first sound."""
    assert hear(ear_of("flush", 0.0), [QUIET] * 5 + [SOUND] * 20) == [(140, "flush")]


def test_off_changes_nothing() -> None:
    """Nor does a sound while nothing is played."""
    assert hear(ear_of("off", 0.9), [SOUND] * 20) == []
    ear = ear_of("pause", 0.9)
    assert [ear.hear(SOUND, False, n * 20.0)[1] for n in range(20)] == [None] * 20


def test_a_bot_that_drops_its_audio_ends_the_rule() -> None:
    """Nothing is resumed that is not there."""
    rule = BargeInRule("pause")
    assert rule.began(True, 0.0) == "pause"
    rule.reset()
    assert rule.tick(1000.0) is None
    assert rule.began(True, 2000.0) == "pause"


def test_the_rest_of_a_sentence_is_not_heard() -> None:
    """What a bot still sends after a flush, up to a gap or a limit."""
    muffle = Muffle()
    assert not muffle.drops(False, 0.0)
    muffle.begin(0.0)
    assert all(muffle.drops(False, now_ms) for now_ms in range(20, 400, 20))
    assert muffle.drops(True, 400.0)
    assert muffle.drops(True, 529.0)
    assert not muffle.drops(False, 530.0)
    assert not muffle.is_active
    muffle.begin(1000.0)
    assert all(muffle.drops(False, now_ms) for now_ms in range(1020, 2500, 20))
    assert not muffle.drops(False, 2500.0)
