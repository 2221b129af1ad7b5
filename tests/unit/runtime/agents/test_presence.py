"""Presence at one node: looked up, then told; nothing is known while the node is away."""

from collections.abc import AsyncIterator

import msgspec
import pytest

from engine.ari.decode import decode_event
from engine.ari.request import Reply, Request
from engine.runtime.agents.presence import APP, SUBSCRIPTION_BATCH, UNUSED_EVENTS, NodePresence
from tests.harness.until import until

SUBSCRIBE = f"applications/{APP}/subscription"
SOON_S = 0.001


class Endpoints:
    """A PBX with endpoints, which keeps what an app listens to."""

    def __init__(self) -> None:
        self.states = {"1001": "online", "1002": "offline", "trunk": "online"}
        self.listened: list[str] = []
        self.asked: list[str] = []
        self.is_up = True

    async def ask(self, request: Request) -> Reply:
        """Answer as Asterisk does."""
        self.asked.append(request.path)
        if not self.is_up:
            return Reply(0)
        match request.method, request.path:
            case "GET", "endpoints/PJSIP":
                return Reply(200, msgspec.json.encode([*map(self._shown, self.states)]))
            case "POST", path if path == SUBSCRIBE:
                sources = dict(request.query)["eventSource"].split(",")
                self.listened += [each.removeprefix("endpoint:") for each in sources]
        return Reply(200, msgspec.json.encode({"name": APP, "endpoint_ids": self.listened}))

    def send(self, request: Request, key: str, may_block: bool, done: object) -> None:
        """Presence is on no call's path."""
        raise AssertionError(request, key, may_block, done)

    def _shown(self, name: str) -> dict[str, object]:
        state = self.states[name]
        return {"technology": "PJSIP", "resource": name, "state": state, "channel_ids": []}


def changed(name: str, state: str) -> bytes:
    """Write an event as Asterisk sends it."""
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
    """Give a PBX with two agents and a trunk."""
    return Endpoints()


@pytest.fixture
async def presence(pbx: Endpoints) -> AsyncIterator[NodePresence]:
    """Watch that PBX."""
    watching = NodePresence("pbx1", pbx, lambda name: name == "PJSIP/trunk", SOON_S)
    yield watching
    await watching.close()


async def test_the_state_is_asked_first(pbx: Endpoints, presence: NodePresence) -> None:
    """Before that nothing is known; the trunk's endpoint is left alone."""
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
    assert pbx.listened == ["PJSIP/1001", "PJSIP/1002"]


async def test_changes_are_told(pbx: Endpoints, presence: NodePresence) -> None:
    """A phone that comes or goes is known at once."""
    presence.on_connected()
    await until(lambda: presence.is_known, every_s=SOON_S)
    pbx.is_up = False  # no look comes in between
    presence.on_event(decode_event(changed("1002", "online")))
    presence.on_event(decode_event(changed("1001", "offline")))
    assert (presence.of("PJSIP/1001"), presence.of("PJSIP/1002")) == ("offline", "online")


async def test_what_is_told_during_a_look_is_newer(pbx: Endpoints, presence: NodePresence) -> None:
    """A list that was made before the change does not undo it."""
    presence.on_connected()
    await until(lambda: pbx.asked != [], every_s=0)
    presence.on_event(decode_event(changed("1002", "online")))
    pbx.states["1002"] = "online"
    await until(lambda: presence.is_known, every_s=SOON_S)
    assert presence.of("PJSIP/1002") == "online"


async def test_without_the_node_nothing_is_known(pbx: Endpoints, presence: NodePresence) -> None:
    """A lost websocket makes all unknown; the next one looks again, and subscribes to no more."""
    presence.on_connected()
    await until(lambda: presence.is_known, every_s=SOON_S)
    presence.on_disconnected("gone")
    presence.on_event(decode_event(changed("1001", "online")))
    assert (presence.is_known, presence.of("PJSIP/1001")) == (False, "unknown")
    pbx.states["1001"] = "offline"
    presence.on_connected()
    await until(lambda: presence.is_known, every_s=SOON_S)
    assert presence.of("PJSIP/1001") == "offline"
    assert pbx.asked.count(SUBSCRIBE) == 1


async def test_endpoints_that_come_later_are_heard_too(
    pbx: Endpoints, presence: NodePresence
) -> None:
    """What is configured later is found by the next look; many are subscribed to in pieces."""
    presence.on_connected()
    await until(lambda: presence.is_known, every_s=SOON_S)
    pbx.states |= {f"new{number}": "online" for number in range(SUBSCRIPTION_BATCH + 1)}
    await until(lambda: presence.of("PJSIP/new7") == "online", every_s=SOON_S)
    assert len(pbx.listened) == 2 + SUBSCRIPTION_BATCH + 1
    assert pbx.asked.count(SUBSCRIBE) == 3


async def test_another_engine_takes_the_app(presence: NodePresence) -> None:
    """Nobody tells us any more, so nothing is known."""
    presence.on_connected()
    await until(lambda: presence.is_known, every_s=SOON_S)
    presence.on_replaced()
    assert presence.of("PJSIP/1001") == "unknown"


def test_only_what_is_used_is_sent() -> None:
    """The events of the agents' channels, which come with an endpoint's, are filtered out."""
    assert "PeerStatusChange" not in UNUSED_EVENTS
    assert "ApplicationReplaced" not in UNUSED_EVENTS
    assert {"ChannelVarset", "EndpointStateChange", "StasisStart"} <= set(UNUSED_EVENTS)
