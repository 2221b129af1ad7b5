"""Which nodes an engine reaches: slow to trust, quick to doubt, slow to forgive."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.ari.config import Timeouts
from engine.runtime.cluster.reachability import (
    PROVEN_AFTER_S,
    RECOVERED_AFTER_S,
    UNREACHABLE_AFTER_S,
    Reachability,
)
from tests.unit.runtime.harness.manual_store import ManualTime

NODE = "pbx1"
STEP_S = 0.25
TICK_S = 0.02
PATIENCE = Timeouts()


class Asking:
    """One engine that asks one node."""

    def __init__(self) -> None:
        self.hand = ManualTime()
        self.changes = 0
        self.reach = Reachability(self.hand.monotonic, self._changed)
        self.reach.add_node(NODE)

    def hears(self, for_s: float, is_answered: bool = True) -> None:
        """Let questions be answered for a while, or be in vain."""
        for _ in range(round(for_s / STEP_S)):
            self.hand.pass_s(STEP_S)
            self.reach.record(NODE, is_answered)

    def hears_nothing(self, for_s: float) -> None:
        """Let questions be in vain for a while."""
        self.hears(for_s, is_answered=False)

    @property
    def shown(self) -> str:
        """Say what is told of the node."""
        told = [("hears", self.reach.reachable), ("deaf", self.reach.unreachable)]
        told.append(("unheard", self.reach.unproven))
        return " ".join(what for what, names in told if NODE in names)

    def _changed(self) -> None:
        self.changes += 1


@pytest.fixture
def asking() -> Asking:
    """Give an engine that has asked nothing yet."""
    return Asking()


def test_a_node_that_is_new(asking: Asking) -> None:
    """It is neither heard nor missed at first; it is believed in after a while of answers only."""
    assert asking.shown == "unheard"
    asking.hears(PROVEN_AFTER_S)
    assert asking.shown == ""
    asking.hears(STEP_S)
    assert asking.shown == "hears"
    assert asking.changes == 1


def test_one_question_in_vain(asking: Asking) -> None:
    """It is trusted no more at once, and missed yet not: the engine may have been slow itself."""
    asking.hears(PROVEN_AFTER_S + 1)
    asking.hand.pass_s(UNREACHABLE_AFTER_S + 1)
    asking.reach.record(NODE, is_answered=False)
    assert asking.shown == "unheard"
    asking.hears(PROVEN_AFTER_S + STEP_S)
    assert asking.shown == "hears"


def test_a_node_that_is_silent(asking: Asking) -> None:
    """It is missed when nothing has come for a while, however quickly each question fails."""
    asking.hears(1)
    asking.hears_nothing(UNREACHABLE_AFTER_S - STEP_S)
    assert asking.shown == "unheard"
    asking.hears_nothing(2 * STEP_S)
    assert asking.shown == "deaf unheard"
    assert asking.changes == 3


def test_a_node_that_comes_back(asking: Asking) -> None:
    """It is missed until it was steady; one that comes and goes stays missed."""
    asking.hears_nothing(UNREACHABLE_AFTER_S + STEP_S)
    for _ in range(3):
        asking.hears(RECOVERED_AFTER_S - STEP_S)
        assert asking.shown == "deaf unheard"
        asking.hears_nothing(2 * STEP_S)
    asking.hears(RECOVERED_AFTER_S - STEP_S)
    asking.hears_nothing(STEP_S)  # one alone, as from a stall that others did not have
    assert asking.shown == "deaf unheard"
    asking.hears(STEP_S)
    assert asking.shown == ""


def test_a_node_that_is_gone(asking: Asking) -> None:
    """One that is closed is neither heard nor missed."""
    asking.hears_nothing(UNREACHABLE_AFTER_S + STEP_S)
    asking.reach.remove_node(NODE)
    assert asking.shown == ""


class Asker:
    """An engine that asks a node which is up at times, every 0.3 s, and waits 0.7 s at most."""

    def __init__(self, hand: ManualTime, first_s: float, *, is_refused: bool) -> None:
        self.reach = Reachability(hand.monotonic)
        self.reach.add_node(NODE)
        self.next_s = first_s
        self._asked_s = first_s
        self._waits_s = 0.01 if is_refused else PATIENCE.health_timeout_s

    def goes_on(self, now_s: float, is_up: bool) -> None:
        """Ask, or take what the last question came to."""
        waited_s = now_s - self._asked_s
        if not is_up and waited_s < self._waits_s:
            self.next_s = now_s + TICK_S
            return
        self.reach.record(NODE, is_up)
        self.next_s = self._asked_s = max(
            now_s + TICK_S, self._asked_s + PATIENCE.health_interval_s
        )


# Longer than from one question to the next: in step with what comes and goes as often as they ask,
# one engine would hear only answers, and another none.
LASTS_S = st.floats(PATIENCE.health_interval_s + 5 * TICK_S, 20)
OUTAGES = st.lists(st.tuples(LASTS_S, LASTS_S), min_size=1, max_size=6)


@given(OUTAGES, st.floats(0, 0.3), st.floats(0, 0.3), st.booleans())
@settings(deadline=None)
def test_a_node_that_comes_and_goes_for_all(
    times: list[tuple[float, float]], first_s: float, second_s: float, is_refused: bool
) -> None:
    """Nobody is believed to hear it while another misses it: no slot moves for it."""
    hand = ManualTime()
    askers = [Asker(hand, hand.now_s + at, is_refused=is_refused) for at in (first_s, second_s)]
    for up_s, down_s in times:
        for is_up, for_s in ((True, up_s), (False, down_s)):
            ends_s = hand.now_s + for_s
            while hand.now_s < ends_s:
                hand.pass_s(TICK_S)
                for asker in askers:
                    if asker.next_s <= hand.now_s:
                        asker.goes_on(hand.now_s, is_up)
                one, two = (asker.reach for asker in askers)
                assert not (one.reachable and two.unreachable)
                assert not (two.reachable and one.unreachable)
