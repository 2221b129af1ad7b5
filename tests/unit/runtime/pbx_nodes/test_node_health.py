"""The health of a node, as AMI reports it."""

from collections import defaultdict

import pytest

from engine.runtime.base.node_report import NodeReport
from engine.runtime.pbx_nodes.node_health import REPORT_TTL_MS, SHUTDOWN_TTL_MS, NodeHealth
from tests.harness.runtime.shard_scene import ManualClock


def test_a_node_shuts_down() -> None:
    """Until it has booted, or the announcement expires."""
    clock = ManualClock()
    health = NodeHealth(clock)
    assert not health.is_shutting_down
    health.on_shutdown()
    assert health.is_shutting_down
    health.on_booted()
    assert not health.is_shutting_down
    health.on_shutdown()
    health.on_unwatched()
    assert health.is_shutting_down
    clock.pass_ms(SHUTDOWN_TTL_MS)
    assert not health.is_shutting_down


def test_the_trunk_is_unreachable_if_no_contact_answers() -> None:
    """Contacts of other endpoints do not count, nor does a removed contact."""
    health = NodeHealth(ManualClock())
    health.on_contact("1001", "sip:phone", is_reachable=False)
    assert not health.is_trunk_unreachable
    health.on_contact("trunk", "sip:a", is_reachable=False)
    assert health.is_trunk_unreachable
    health.on_contact("trunk", "sip:b", is_reachable=True)
    assert not health.is_trunk_unreachable
    health.on_contact("trunk", "sip:b", is_reachable=None)
    assert health.is_trunk_unreachable
    health.on_unwatched()
    assert not health.is_trunk_unreachable


def test_rejected_registrations() -> None:
    """A rejected registration is listed until it succeeds or AMI disconnects."""
    health = NodeHealth(ManualClock())
    for who in ("sip:b@x", "sip:a@x"):
        health.on_registration(who, is_registered=False)
    health.on_registration("sip:b@x", is_registered=True)
    assert list(health.unregistered) == ["sip:a@x"]
    health.on_unwatched()
    assert list(health.unregistered) == []


def test_refused_logins() -> None:
    """They are counted by service, in the table that is given."""
    counts = defaultdict[str, int](int)
    health = NodeHealth(ManualClock(), failed_logins=counts)
    for service in ("sip", "sip", "ami"):
        health.on_failed_login(service)
    assert counts == {"sip": 2, "ami": 1}


def test_quality_follows_the_reports() -> None:
    """It starts at the first report, follows later ones and expires without them."""
    clock = ManualClock()
    health = NodeHealth(clock)
    health.on_rtp_report(0.1, 30)
    assert (health.quality.loss, health.quality.jitter_ms) == (0.1, 30)
    health.on_rtp_report(0, 20)
    assert (health.quality.loss, health.quality.jitter_ms) == pytest.approx((0.09, 29))
    clock.pass_ms(REPORT_TTL_MS + 1)
    assert (health.quality.loss, health.quality.jitter_ms) == (0, 0)
    health.on_rtp_report(0.2, 40)
    assert health.quality.loss == 0.2


def test_the_report_of_a_node() -> None:
    """As other engines get it: rounded, and worth it while the node is watched or shuts down."""
    health = NodeHealth(ManualClock())
    assert (health.has_report, health.report()) == (False, NodeReport())
    health.on_booted()
    health.on_call_count(3)
    health.on_contact("Trunk", "sip:a", is_reachable=False)
    health.on_registration("sip:b@x", is_registered=False)
    health.on_rtp_report(0.123456, 12.34)
    assert health.report() == NodeReport(
        True, is_trunk_unreachable=True, unregistered=("sip:b@x",), calls=3,
        loss=0.1235, jitter_ms=12.3,
    )  # fmt: skip
    assert health.has_report
    health.on_unwatched()
    assert not health.has_report
    health.on_shutdown()
    assert health.has_report
