"""How a node is, by what its manager interface tells."""

import pytest

from engine.runtime.nodes.health import REPORT_TTL_MS, SHUTDOWN_TTL_MS, NodeHealth
from tests.unit.runtime.harness.shard_bench import HandClock


def test_a_node_that_shuts_down_is_leaving() -> None:
    """Until it has booted, or has thought better of it."""
    clock = HandClock()
    health = NodeHealth(clock)
    assert not health.is_leaving
    health.leaves()
    assert health.is_leaving
    health.booted()
    assert not health.is_leaving
    health.leaves()
    health.unwatched()
    assert health.is_leaving
    clock.pass_ms(SHUTDOWN_TTL_MS)
    assert not health.is_leaving


def test_the_trunk_is_away_when_none_of_its_contacts_answers() -> None:
    """Others' contacts say nothing of it; one that is removed counts no more."""
    health = NodeHealth(HandClock())
    health.contact("1001", "sip:phone", is_reachable=False)
    assert not health.is_trunk_away
    health.contact("trunk", "sip:a", is_reachable=False)
    assert health.is_trunk_away
    health.contact("trunk", "sip:b", is_reachable=True)
    assert not health.is_trunk_away
    health.contact("trunk", "sip:b", is_reachable=None)
    assert health.is_trunk_away
    health.unwatched()
    assert not health.is_trunk_away


def test_where_it_is_not_registered() -> None:
    """A registration that was refused is named until it stands; what was known may be old."""
    health = NodeHealth(HandClock())
    for who in ("sip:b@x", "sip:a@x"):
        health.registered(who, is_so=False)
    health.registered("sip:b@x", is_so=True)
    assert list(health.unregistered) == ["sip:a@x"]
    health.unwatched()
    assert list(health.unregistered) == []


def test_quality_follows_the_reports() -> None:
    """It is the first, nears what comes after it, and is forgotten when nothing does."""
    clock = HandClock()
    health = NodeHealth(clock)
    health.reported(0.1, 30)
    assert (health.quality.loss, health.quality.jitter_ms) == (0.1, 30)
    health.reported(0, 20)
    assert (health.quality.loss, health.quality.jitter_ms) == pytest.approx((0.09, 29))
    clock.pass_ms(REPORT_TTL_MS + 1)
    assert (health.quality.loss, health.quality.jitter_ms) == (0, 0)
    health.reported(0.2, 40)
    assert health.quality.loss == 0.2
