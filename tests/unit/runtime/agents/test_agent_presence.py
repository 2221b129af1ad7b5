"""What an engine knows of agents: those that no document describes."""

import asyncio
from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.runtime.agents.agent_presence import AgentPresence, AgentRejection
from engine.runtime.agents.configured_endpoints import ConfiguredEndpoints
from engine.runtime.agents.directory import AgentTemplate, Directory
from engine.runtime.agents.registered_endpoints import RegisteredEndpoints
from tests.harness.calls.builders import inbound
from tests.harness.memory_store.store import MemoryStore
from tests.harness.runtime.endpoints import Endpoints
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.runtime.shard_scene import ManualClock
from tests.harness.store.documents import put_agent
from tests.harness.until import until
from wire.agents import Agent, AgentView


def test_an_agent_is_known_where_a_node_has_its_endpoint() -> None:
    """Also at a node whose endpoints the engine learns later."""
    clock, template = ManualClock(), AgentTemplate("PJSIP/{agent_id}", "acme")
    directory = Directory(MemoryStore(), clock.now_ms, template, ())
    nodes = dict[str, ConfiguredEndpoints]()
    presence = AgentPresence(directory, list, nodes)
    assert presence.by_template("acme", "1001") is None
    for name, endpoint in (("pbx1", "PJSIP/1001"), ("pbx2", "PJSIP/1002")):
        nodes[name] = ConfiguredEndpoints(RecordingPbx(), lambda _name: False)
        nodes[name].learn([endpoint])
    assert presence.by_template("acme", "1001") == Agent("PJSIP/1001")
    assert presence.by_template("acme", "1002") == Agent("PJSIP/1002")
    assert presence.by_template("acme", "1003") is None
    assert presence.by_template("other", "1001") is None
    assert presence.party_of("acme", "1001") == "agent:1001"
    assert presence.party_of("acme", "1003") == "1003"


class Scene:
    """Two agents of a template, one of a document, and what a node says of their phones."""

    def __init__(self, calls: Iterable[Call] = ()) -> None:
        self.store, clock = MemoryStore(), ManualClock()
        directory = Directory(
            self.store, clock.now_ms, AgentTemplate("PJSIP/{agent_id}", "acme"), ()
        )
        self.presence = AgentPresence(directory, lambda: calls)
        self.pbx = Endpoints()

    async def watch(self, node: str, **states: str) -> None:
        """Watch a node; `a1001` is the state of endpoint 1001."""
        self.pbx.states = {name[1:]: state for name, state in states.items()}
        watching = RegisteredEndpoints(node, self.pbx, lambda _name: False)
        self.presence.registered_endpoints[node] = watching
        self.presence.configured_endpoints[node] = ConfiguredEndpoints(self.pbx, lambda _name: True)
        if states:
            watching.on_connected()
            await until(lambda: watching.is_known, every_s=0.001)

    async def check(self, agent_id: str) -> AgentRejection:
        """Return why an agent cannot be called."""
        found: asyncio.Future[AgentRejection] = asyncio.get_running_loop().create_future()
        self.presence.check("acme", agent_id, found.set_result)
        return await found

    async def close(self) -> None:
        for each in self.presence.registered_endpoints.values():
            await each.close()


async def test_agents_that_can_not_be_called() -> None:
    """If the registrations at all nodes are known; one with a document is known in any case."""
    scene = Scene()
    await put_agent(scene.store, "acme", "ada", msgspec.json.encode(Agent("PJSIP/9")))
    checked = ("1001", "1002", "1003", "ada")
    assert [await scene.check(each) for each in checked] == [""] * 4
    await scene.watch("pbx1", a1001="online", a1002="offline")
    known = ["", "agent_offline", "unknown_agent", ""]
    assert [await scene.check(each) for each in checked] == known
    await scene.watch("pbx2")
    assert [await scene.check(each) for each in checked] == [""] * 4
    del scene.presence.registered_endpoints["pbx2"]
    assert [await scene.check(each) for each in checked] == [""] * 4
    await scene.close()


async def test_views_of_agents() -> None:
    """With the nodes of their phones, and the call that they are in."""
    call = inbound()
    leg = replace(call.legs[0], agent_id="1001")
    foreign = replace(call, account="other", legs=(replace(leg, agent_id="1002"),))
    scene = Scene([replace(call, legs=(leg,)), foreign])
    await scene.watch("pbx1", a1001="online", a1002="offline")
    await scene.watch("pbx2", a1001="online", a1002="unknown")
    agents = {
        "1003": Agent("PJSIP/1003", phone="browser"),
        "1002": Agent("PJSIP/1002"),
        "1001": Agent("PJSIP/1001", "Ada", "+4799"),
    }
    online = AgentView(
        agent_id="1001", endpoint="PJSIP/1001", presence="online", busy=True,
        name="Ada", caller_id="+4799", call_id=call.id, nodes=("pbx1", "pbx2"),
    )  # fmt: skip
    others = [
        AgentView(agent_id=each, endpoint=f"PJSIP/{each}", presence="offline", busy=False)
        for each in ("1002", "1003")
    ]
    assert list(scene.presence.views("acme", agents)) == [online, *others]
    await scene.close()
