"""What an engine knows of agents: those that no document describes."""

from engine.runtime.agents.agent_presence import AgentPresence
from engine.runtime.agents.agent_template import AgentTemplate
from engine.runtime.agents.configured_endpoints import ConfiguredEndpoints
from engine.runtime.agents.directory import Directory
from tests.harness.memory_store.store import MemoryStore
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.runtime.shard_scene import ManualClock
from wire.agents import Agent


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
