"""The shares of a gateway's loop: one account's bots wait, and those of others do not."""

import pytest

from streams.bots.loop_shares import (
    BURST_S,
    RESUME_S,
    SHARE,
    SHARE_OF_STREAM,
    LoopShares,
)
from streams.stream.audio import ULAW
from streams.stream.voice import VoiceJudges
from tests.harness.executors import InlineExecutor
from tests.unit.streams.fixed_model import FixedModel
from tests.unit.streams.recording_links import RecordingBot

RATE = SHARE + 2 * SHARE_OF_STREAM


class Scene:
    """Two accounts, with two bots and one, and a clock that a test moves."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.shares = LoopShares(lambda: self.now_s)
        self.acme = self.shares.join("acme")
        assert self.shares.join("acme") is self.acme
        self.other = self.shares.join("other")
        self.first, self.second, self.others = (RecordingBot() for _ in range(3))
        for share, bot in (
            (self.acme, self.first),
            (self.acme, self.second),
            (self.other, self.others),
        ):
            share.add(bot)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now_s += seconds
        self.shares.resume()

    @property
    def read(self) -> list[bool]:
        """Which bots are read."""
        return [each.is_read for each in (self.first, self.second, self.others)]


def test_the_bots_of_an_account_wait_until_its_debt_is_paid() -> None:
    """A message is handled before its cost is known; the bots of others do not wait."""
    scene = Scene()
    scene.acme.spend(BURST_S)
    assert scene.read == [True, True, True]
    scene.acme.spend(0.05)
    assert scene.read == [False, False, True]
    scene.wait((0.05 + RESUME_S) / RATE - 0.001)
    assert scene.read == [False, False, True]
    scene.wait(0.002)
    assert scene.read == [True, True, True]
    assert not scene.acme.is_used_up


def test_a_flood_has_its_share_of_the_loop() -> None:
    """However much of it arrives."""
    scene, spent_s = Scene(), 0.0
    for _ in range(1_000):
        if scene.first.is_read:
            scene.acme.spend(0.005, scene.first)
            spent_s += 0.005
        scene.wait(0.01)
    assert spent_s == pytest.approx(BURST_S + 10 * RATE, abs=0.03)


class OrderedBot(RecordingBot):
    """A bot that notes when it is read again."""

    def __init__(self, order: list[RecordingBot]) -> None:
        super().__init__()
        self._order = order

    def resume_reading(self) -> None:
        super().resume_reading()
        self._order.append(self)


def test_each_bot_has_its_turn() -> None:
    """The one that uses the share up is read after the others."""
    scene, order, turns = Scene(), list[RecordingBot](), list[RecordingBot]()
    bots = [OrderedBot(order) for _ in range(3)]
    for bot in bots:
        scene.acme.add(bot)
    scene.acme.spend(0.2)
    for _ in range(5):
        order.clear()
        scene.wait(2.0)
        turns.append(order[0])
        scene.acme.spend(0.2, order[0])
    assert turns == [*bots, *bots[:2]]


def test_an_account_alone_has_the_whole_loop() -> None:
    """While no other has streams: none waits for it."""
    scene = Scene()
    scene.shares.leave(scene.other)
    for _ in range(100):
        scene.acme.spend(0.01)
        scene.wait(0.01)
    assert scene.read == [True, True, True]
    assert scene.shares.join("other") is scene.other
    for _ in range(20):
        scene.acme.spend(0.01)
        scene.wait(0.01)
    assert scene.read == [False, False, True]


def test_a_new_bot_of_an_account_in_debt_waits_too() -> None:
    """Neither it nor a new stream clears the debt; what has ended does not wait."""
    scene = Scene()
    scene.acme.spend(BURST_S + 1.0)
    for _ in range(2):
        scene.shares.leave(scene.acme)
    scene.acme.remove(scene.first)
    scene.shares.join("third")
    assert scene.shares.join("acme") is scene.acme
    new = RecordingBot()
    scene.acme.add(new)
    assert not new.is_read
    scene.wait(10.0)
    assert new.is_read
    assert not scene.first.is_read


def test_an_account_without_streams_and_debts_is_forgotten() -> None:
    scene = Scene()
    scene.shares.leave(scene.other)
    scene.wait(10.0)
    scene.shares.join("third")
    assert scene.shares.join("other") is not scene.other


def test_voices_are_charged_and_wait() -> None:
    """No window of an account in debt is judged; then the last second of the sound is."""
    scene, model = Scene(), FixedModel(0.9)
    judges = VoiceJudges(lambda _rate: model, InlineExecutor())
    judge = judges.charged_to(scene.acme).lend(ULAW)
    scene.acme.spend(BURST_S + 0.01)
    for _ in range(60):
        judge.hear(b"\x23" * 160)
    assert model.windows == 0
    scene.wait(5.0)
    judge.hear(b"\x23" * 160)
    assert model.windows == (8_000 + 160) // 256
    scene.acme.spend(BURST_S - 1e-9)
    while not scene.acme.is_used_up:
        judge.hear(b"\x23" * 160)
