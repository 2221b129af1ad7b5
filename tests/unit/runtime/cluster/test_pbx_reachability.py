"""Reachability of nodes: proven slowly, lost quickly, recovered slowly."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.ari.config import Timeouts
from engine.runtime.cluster.pbx_reachability import (
    PROVEN_AFTER_S,
    RECOVERED_AFTER_S,
    UNREACHABLE_AFTER_S,
    PbxReachability,
)
from tests.harness.runtime.manual_store import ManualTime

NODE = "pbx1"
STEP_S = 0.25
TICK_S = 0.02
TIMEOUTS = Timeouts()


class Prober:
    """One engine that probes one node."""

    def __init__(self) -> None:
        self.hand = ManualTime()
        self.changes = 0
        self.reach = PbxReachability(self.hand.monotonic, self._changed)
        self.reach.add_node(NODE)

    def reply(self, for_s: float, is_answered: bool = True) -> None:
        """Let probes succeed, or fail, for a while."""
        for _ in range(round(for_s / STEP_S)):
            self.hand.pass_s(STEP_S)
            self.reach.record(NODE, is_answered)

    def fail(self, for_s: float) -> None:
        """Let probes fail for a while."""
        self.reply(for_s, is_answered=False)

    @property
    def status(self) -> str:
        """How the node is reported."""
        lists = {
            "reachable": self.reach.reachable,
            "unreachable": self.reach.unreachable,
            "unproven": self.reach.unproven,
        }
        return " ".join(name for name, nodes in lists.items() if NODE in nodes)

    def _changed(self) -> None:
        self.changes += 1


@pytest.fixture
def prober() -> Prober:
    """Return an engine that has not probed yet."""
    return Prober()


def test_a_node_that_is_new(prober: Prober) -> None:
    """It is unproven at first, and reachable after a while of replies."""
    assert prober.status == "unproven"
    prober.reply(PROVEN_AFTER_S)
    assert prober.status == ""
    prober.reply(STEP_S)
    assert prober.status == "reachable"
    assert prober.changes == 1


def test_one_failed_probe(prober: Prober) -> None:
    """It is not reachable any more, but not unreachable: the engine itself may have been slow."""
    prober.reply(PROVEN_AFTER_S + 1)
    prober.hand.pass_s(UNREACHABLE_AFTER_S + 1)
    prober.reach.record(NODE, is_answered=False)
    assert prober.status == "unproven"
    prober.reply(PROVEN_AFTER_S + STEP_S)
    assert prober.status == "reachable"


def test_a_node_that_is_silent(prober: Prober) -> None:
    """It is unreachable after a while without replies, however quickly probes fail."""
    prober.reply(1)
    prober.fail(UNREACHABLE_AFTER_S - STEP_S)
    assert prober.status == "unproven"
    prober.fail(2 * STEP_S)
    assert prober.status == "unreachable unproven"
    assert prober.changes == 3


def test_a_node_that_comes_back(prober: Prober) -> None:
    """It is unreachable until its replies are steady."""
    prober.fail(UNREACHABLE_AFTER_S + STEP_S)
    for _ in range(3):
        prober.reply(RECOVERED_AFTER_S - STEP_S)
        assert prober.status == "unreachable unproven"
        prober.fail(2 * STEP_S)
    prober.reply(RECOVERED_AFTER_S - STEP_S)
    prober.fail(STEP_S)  # a single failure, as from a stall of this engine
    assert prober.status == "unreachable unproven"
    prober.reply(STEP_S)
    assert prober.status == ""


def test_a_removed_node(prober: Prober) -> None:
    """It is not reported."""
    prober.fail(UNREACHABLE_AFTER_S + STEP_S)
    prober.reach.remove_node(NODE)
    assert prober.status == ""


class IntervalProber:
    """An engine that probes an unstable node every 0.3 s, with a timeout of 0.7 s."""

    def __init__(self, hand: ManualTime, first_s: float, *, is_refused: bool) -> None:
        self.reach = PbxReachability(hand.monotonic)
        self.reach.add_node(NODE)
        self.next_s = first_s
        self._probed_s = first_s
        self._timeout_s = 0.01 if is_refused else TIMEOUTS.health_timeout_s

    def step(self, now_s: float, is_up: bool) -> None:
        """Start a probe, or record the result of the last one."""
        waited_s = now_s - self._probed_s
        if not is_up and waited_s < self._timeout_s:
            self.next_s = now_s + TICK_S
            return
        self.reach.record(NODE, is_up)
        self.next_s = self._probed_s = max(
            now_s + TICK_S, self._probed_s + TIMEOUTS.health_interval_s
        )


# Longer than the probe interval: a node in step with the probes would always reply to one engine,
# and never to the other.
PERIODS_S = st.floats(TIMEOUTS.health_interval_s + 5 * TICK_S, 20)
OUTAGES = st.lists(st.tuples(PERIODS_S, PERIODS_S), min_size=1, max_size=6)


@given(OUTAGES, st.floats(0, 0.3), st.floats(0, 0.3), st.booleans())
@settings(deadline=None)
def test_an_unstable_node(
    times: list[tuple[float, float]], first_s: float, second_s: float, is_refused: bool
) -> None:
    """It is never reachable for one engine and unreachable for another: no slot moves."""
    hand = ManualTime()
    probers = [
        IntervalProber(hand, hand.now_s + at, is_refused=is_refused) for at in (first_s, second_s)
    ]
    for up_s, down_s in times:
        for is_up, for_s in ((True, up_s), (False, down_s)):
            ends_s = hand.now_s + for_s
            while hand.now_s < ends_s:
                hand.pass_s(TICK_S)
                for prober in probers:
                    if prober.next_s <= hand.now_s:
                        prober.step(hand.now_s, is_up)
                one, two = (prober.reach for prober in probers)
                assert not (one.reachable and two.unreachable)
                assert not (two.reachable and one.unreachable)
