"""Judges of sounds while detectors are loaded, which must not delay a frame."""

from streams.stream.audio import ULAW
from streams.stream.voice import VoiceJudges
from streams.stream.voice_models import MAX_IDLE, SPARE
from tests.unit.streams.executors import HeldExecutor
from tests.unit.streams.fixed_model import FixedModel

SOUND = b"\x90\x10" * 80
VOICE_FRAMES = 8  # five windows of 32 ms


class Models:
    """Detectors whose loading a test controls."""

    def __init__(self) -> None:
        self.loader = HeldExecutor()
        self.created = 0
        self.fails = False
        self.judges = VoiceJudges(self._create, self.loader)
        self.loader.run_all()

    def _create(self, _rate: int) -> FixedModel:
        if self.fails:
            raise RuntimeError("no memory")
        self.created += 1
        return FixedModel(0.9)


def test_no_detector_is_loaded_where_frames_pass() -> None:
    """However many callers make a sound at once; the next ones get theirs when it is there."""
    models = Models()
    before = models.created
    judges = [models.judges.lend(ULAW) for _ in range(10)]
    heard = [[judge.hear(SOUND) for judge in judges] for _ in range(VOICE_FRAMES)]
    assert models.created == before
    assert heard[-1].count(True) == SPARE


def test_a_late_detector_hears_the_whole_sound() -> None:
    models = Models()
    judges = [models.judges.lend(ULAW) for _ in range(SPARE + 1)]
    for _ in range(VOICE_FRAMES):
        assert not judges[-1].hear(SOUND)
    models.loader.run_all()
    assert judges[-1].hear(SOUND)


def test_detectors_are_used_again() -> None:
    """And not more of them are kept than a busy gateway needs."""
    models = Models()
    judges = [models.judges.lend(ULAW) for _ in range(MAX_IDLE + 5)]
    while models.loader.run_all():
        for judge in judges:
            judge.hear(SOUND)
    for judge in judges:
        judge.end()
    before = models.created
    again = [models.judges.lend(ULAW) for _ in range(MAX_IDLE)]
    heard = [[judge.hear(SOUND) for judge in again] for _ in range(VOICE_FRAMES)]
    assert heard[-1] == [True] * MAX_IDLE
    assert models.created == before


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
