"""What several tests prepare in an engine: watched agents, dead letters, ended calls."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from engine.calls.model.events import LegEnded
from engine.calls.model.requests import HoldRequested
from engine.runtime.agents.registered_endpoints import RegisteredEndpoints
from engine.store.change import Change
from tests.harness.callbacks.scene import commit_of
from tests.harness.calls.builders import MAIN, bridged_call, outbound
from tests.harness.calls.control import BOB, PEER
from tests.harness.recorded_call import RecordedCall, record_call
from tests.harness.rpc.scene import RpcScene
from tests.harness.runtime.endpoints import Endpoints
from tests.harness.shards import at
from tests.harness.store.stores import claim_shard
from tests.harness.until import until


@asynccontextmanager
async def watched(scene: RpcScene, node: str, **states: str) -> AsyncIterator[RegisteredEndpoints]:
    """Let a node report endpoints by name, as `a1001="online"`."""
    pbx = Endpoints()
    pbx.states = {name.removeprefix("a"): state for name, state in states.items()}
    presence = RegisteredEndpoints(node, pbx, scene.agent_presence.directory.is_trunk)
    scene.agent_presence.registered_endpoints[node] = presence
    presence.on_connected()
    await until(lambda: presence.is_known, every_s=0.001)
    yield presence
    await presence.close()
    del scene.agent_presence.registered_endpoints[node]


async def bury(scene: RpcScene, count: int, target: str = "auto-set") -> None:
    """Add dead letters, in both shards in turn."""
    for number in range(count):
        slot = number % 2
        change = commit_of(f"{slot}-pbx1-{number:08}", 0, account="acme", target=target)
        scene.store.callback_queue.bury(at(slot), change)


DIAL = {"type": "dial", "data": {"number": [BOB]}}


def talked() -> RecordedCall:
    """Return a recorded conversation with a hold, to its end."""
    story = bridged_call(BOB)
    story.take(HoldRequested(PEER, held=True), 1_000)
    story.take(LegEnded(PEER, 16), 2_000)
    story.take(LegEnded(MAIN, 16), 10)
    assert story.call.is_ended
    return record_call(outbound(DIAL), story.events)


async def stored(scene: RpcScene, change: Change) -> None:
    """Store a call as an engine would; the scene loses the shard."""
    token = await claim_shard(scene.store, at(0), "test")
    await scene.store.commit(at(0), token, [change])
