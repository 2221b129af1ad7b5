"""Judges of sounds while detectors are loaded, which must not delay a frame."""

from array import array

import pytest

from streams.stream.audio import ULAW, linear
from streams.stream.voice import MAX_IDLE, SPARE, VOICE, SoundJudge, VoiceJudges
from tests.harness.executors import HeldExecutor, InlineExecutor
from tests.unit.streams.fixed_model import FixedModel

SOUND = b"\x90\x10" * 80
VOICE_FRAMES = 8  # five windows of 32 ms


class Models:
    """Detectors whose loading a test controls."""

    def __init__(self) -> None:
        self.loader = HeldExecutor()
        self.made: list[FixedModel] = []
        self.fails = False
        self.judges = VoiceJudges(self._create, self.loader)
        self.loader.run_all()

    def _create(self, _rate: int) -> FixedModel:
        if self.fails:
            raise RuntimeError("no memory")
        self.made.append(FixedModel(0.9))
        return self.made[-1]


def test_no_detector_is_loaded_where_frames_pass() -> None:
    """However many callers make a sound at once; the next ones get theirs when it is there."""
    models = Models()
    before = len(models.made)
    judges = [models.judges.lend(ULAW) for _ in range(10)]
    heard = [[judge.hear(SOUND) for judge in judges] for _ in range(VOICE_FRAMES)]
    assert len(models.made) == before
    assert [each.count(True) for each in heard[-2:]] == [0, SPARE]


def test_a_late_detector_hears_the_whole_sound() -> None:
    models = Models()
    judges = [models.judges.lend(ULAW) for _ in range(SPARE + 1)]
    for _ in range(VOICE_FRAMES):
        assert not judges[-1].hear(SOUND)
    models.loader.run_all()
    assert judges[-1].hear(SOUND)


def test_a_very_late_detector_hears_the_last_second() -> None:
    """A sound that lasts fills no memory."""
    models = Models()
    judges = [models.judges.lend(ULAW) for _ in range(SPARE + 1)]
    for _ in range(60):
        judges[-1].hear(SOUND)
    models.loader.run_all()
    judges[-1].hear(SOUND)
    assert [each.windows for each in models.made if each.windows] == [(8_000 + 160) // 256]


def test_detectors_are_used_again() -> None:
    """And not more of them are kept than a busy gateway needs."""
    models = Models()
    judges = [models.judges.lend(ULAW) for _ in range(MAX_IDLE + 5)]
    while models.loader.run_all():
        for judge in judges:
            judge.hear(SOUND)
    for judge in judges:
        judge.end()
    before = len(models.made)
    again = [models.judges.lend(ULAW) for _ in range(MAX_IDLE)]
    heard = [[judge.hear(SOUND) for judge in again] for _ in range(VOICE_FRAMES)]
    assert heard[-1] == [True] * MAX_IDLE
    assert len(models.made) == before
    assert all(each.resets for each in models.made if each.windows)


def test_a_detector_that_cannot_be_loaded() -> None:
    """Its sound is no voice, and the next one has another try."""
    models = Models()
    models.fails = True
    judges = [models.judges.lend(ULAW) for _ in range(SPARE + 1)]
    models.loader.run_all()
    assert not any(judges[-1].hear(SOUND) for _ in range(VOICE_FRAMES))
    models.fails = False
    models.loader.run_all()
    assert judges[-1].hear(SOUND)


@pytest.mark.parametrize(
    ("rate", "model_rate", "windows"), [(8000, 8000, 5), (16_000, 16_000, 10), (24_000, 8000, 5)]
)
def test_a_detector_has_one_of_two_rates(rate: int, model_rate: int, windows: int) -> None:
    """Of other rates it hears a part of the samples, between -1 and 1."""
    audio, made = linear(rate), dict[int, FixedModel]()
    judge = VoiceJudges(
        lambda wanted: made.setdefault(wanted, FixedModel(0.9)), InlineExecutor()
    ).lend(audio)
    step = rate // model_rate
    samples = array("h", [-16_384, *[32_767] * (step - 1)] * (rate // 50 // step))
    for _ in range(8):
        judge.hear(samples.tobytes())
    assert {each: model.windows for each, model in made.items() if model.windows} == {
        model_rate: windows
    }
    assert {*made[model_rate].heard} == {-0.5}


def test_a_detector_hears_ulaw() -> None:
    """As the numbers of G.711."""
    model = FixedModel(0.9)
    judge = VoiceJudges(lambda _rate: model, InlineExecutor()).lend(ULAW)
    for _ in range(2):
        judge.hear(b"\x80" * 160)
    assert {*model.heard} == {32_124 / 32_768}


def test_a_voice_is_five_windows_in_a_row() -> None:
    """Those of a cough are fewer, or there is another sound between them."""
    model = FixedModel(VOICE)
    judge = VoiceJudges(lambda _rate: model, InlineExecutor()).lend(ULAW)
    found = []
    for number in range(20):
        model.probability = VOICE if number != 6 else 0.5
        found.append(judge.hear(SOUND))
    assert found.index(True) == 14


def test_a_sound_is_judged_from_a_little_before_it_was_noticed() -> None:
    """With as many frames as are kept; once is enough."""
    model = FixedModel(0.9)
    sound = SoundJudge(ULAW, VoiceJudges(lambda _rate: model, InlineExecutor()), 6)
    for _ in range(20):
        assert not sound.hear(SOUND)
    for frames in (4, 6):
        sound.begin(frames)
        assert model.windows == 4 * 160 // 256
    sound.end()
    sound.begin(20)
    assert model.windows == 4 * 160 // 256 + 6 * 160 // 256
