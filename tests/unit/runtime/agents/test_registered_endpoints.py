"""Presence at one node: read once, then updated by events; unknown while disconnected."""

from collections.abc import AsyncIterator

import msgspec
import pytest
from structlog.testing import capture_logs

from engine.ari.events import decode_event
from engine.runtime.agents.registered_endpoints import (
    APP,
    SUBSCRIPTION_BATCH,
    UNUSED_EVENTS,
    RegisteredEndpoints,
)
from tests.harness.runtime.endpoints import SUBSCRIBE, Endpoints
from tests.harness.until import until
from tests.harness.virtual_time import virtual_time

SOON_S = 0.001


def status_change(name: str, state: str) -> bytes:
    """Encode an event as Asterisk sends it."""
    endpoint = {"technology": "PJSIP", "resource": name, "state": state, "channel_ids": []}
    return msgspec.json.encode(
        {
            "type": "PeerStatusChange",
            "endpoint": endpoint,
            "peer": {"peer_status": "Reachable"},
            "application": APP,
            "timestamp": "2026-11-21T05:00:00.000+0000",
        }
    )


@pytest.fixture
def pbx() -> Endpoints:
    """Return a PBX with two agents and a trunk."""
    return Endpoints()


@pytest.fixture
async def presence(pbx: Endpoints) -> AsyncIterator[RegisteredEndpoints]:
    """Watch that PBX."""
    watching = RegisteredEndpoints("pbx1", pbx, lambda name: name == "PJSIP/trunk", SOON_S)
    yield watching
    await watching.close()


async def test_states_are_read_first(pbx: Endpoints, presence: RegisteredEndpoints) -> None:
    """Before that nothing is known; the trunk's endpoint is not subscribed to."""
    assert presence.of("PJSIP/1001") == "unknown"
    presence.on_connected()
    await until(lambda: presence.is_known, every_s=SOON_S)
    named = ("1001", "1002", "trunk", "1009")
    assert [presence.of(f"PJSIP/{each}") for each in named] == [
        "online",
        "offline",
        "unknown",
        "unknown",
    ]
    assert [presence.knows(f"PJSIP/{each}") for each in named] == [True, True, False, False]
    assert pbx.subscribed == ["PJSIP/1001", "PJSIP/1002"]


async def test_changes_are_applied(pbx: Endpoints, presence: RegisteredEndpoints) -> None:
    """A registration or its end is known at once."""
    presence.on_connected()
    await until(lambda: presence.is_known, every_s=SOON_S)
    pbx.is_up = False  # no read comes in between
    presence.on_event(decode_event(status_change("1002", "online")))
    presence.on_event(decode_event(status_change("1001", "offline")))
    assert (presence.of("PJSIP/1001"), presence.of("PJSIP/1002")) == ("offline", "online")


async def test_a_change_during_a_read_is_newer(
    pbx: Endpoints, presence: RegisteredEndpoints
) -> None:
    """An older list does not undo it."""
    presence.on_connected()
    await until(lambda: pbx.requests != [], every_s=0)
    presence.on_event(decode_event(status_change("1002", "online")))
    pbx.states["1002"] = "online"
    await until(lambda: presence.is_known, every_s=SOON_S)
    assert presence.of("PJSIP/1002") == "online"


async def test_a_disconnected_node(pbx: Endpoints, presence: RegisteredEndpoints) -> None:
    """All states are unknown; the next connection reads again, and keeps subscriptions."""
    presence.on_connected()
    await until(lambda: presence.is_known, every_s=SOON_S)
    presence.on_disconnected("gone", 0)
    presence.on_event(decode_event(status_change("1001", "online")))
    assert (presence.is_known, presence.of("PJSIP/1001")) == (False, "unknown")
    pbx.states["1001"] = "offline"
    presence.on_connected()
    await until(lambda: presence.is_known, every_s=SOON_S)
    assert presence.of("PJSIP/1001") == "offline"
    assert pbx.requests.count(SUBSCRIBE) == 1


async def test_endpoints_configured_later(pbx: Endpoints, presence: RegisteredEndpoints) -> None:
    """The next read finds them; many are subscribed to in batches."""
    presence.on_connected()
    await until(lambda: presence.is_known, every_s=SOON_S)
    pbx.states |= {f"new{number}": "online" for number in range(SUBSCRIPTION_BATCH + 1)}
    await until(lambda: presence.of("PJSIP/new7") == "online", every_s=SOON_S)
    assert len(pbx.subscribed) == 2 + SUBSCRIPTION_BATCH + 1
    assert pbx.requests.count(SUBSCRIBE) == 3


@virtual_time
async def test_an_unexpected_error(pbx: Endpoints) -> None:
    """A read that raises anything is logged, and the states are read again."""
    presence = RegisteredEndpoints("pbx1", pbx, lambda _name: False, SOON_S)
    pbx.fails = True
    with capture_logs() as logged:
        presence.on_connected()
        await until(lambda: presence.is_known, what="the states", every_s=SOON_S)
    assert [each["log_level"] for each in logged] == ["error"]


async def test_another_engine_takes_over_the_app(presence: RegisteredEndpoints) -> None:
    """No more events arrive, so nothing is known."""
    presence.on_connected()
    await until(lambda: presence.is_known, every_s=SOON_S)
    presence.on_replaced()
    assert presence.of("PJSIP/1001") == "unknown"


def test_unused_events_are_filtered() -> None:
    """Events of the agents' channels, which a subscription brings, are filtered out."""
    assert "PeerStatusChange" not in UNUSED_EVENTS
    assert "ApplicationReplaced" not in UNUSED_EVENTS
    assert {"ChannelVarset", "EndpointStateChange", "StasisStart"} <= set(UNUSED_EVENTS)
