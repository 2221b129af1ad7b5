"""Agents as they are now: what the directory says, who is registered, who is in a call."""

from collections.abc import Iterator, Mapping

from engine.calls.model.call import Call
from engine.runtime.agents.directory import Directory
from engine.runtime.agents.endpoints import EndpointList
from engine.runtime.agents.presence import NodePresence
from engine.runtime.service import CallService
from wire.agents import Agent, AgentView, Presence


class AgentStatus:
    """Looks agents up in this engine's nodes and calls.

    By node: `phones` are known to each engine, `presences` to the one that hears who registers.
    """

    def __init__(self, directory: Directory, switch: CallService) -> None:
        self.directory = directory
        self.presences: dict[str, NodePresence] = {}
        self.endpoint_lists: dict[str, EndpointList] = {}
        self.switch = switch

    def by_template(self, agent_id: str) -> Agent | None:
        """Give the agent whom no document names, if a node knows the template's endpoint."""
        endpoint = self.directory.default(agent_id)
        heard = any(each.knows(endpoint) for each in self.presences.values())
        is_known = heard or any(each.knows(endpoint) for each in self.endpoint_lists.values())
        return Agent(endpoint) if is_known else None

    def party_of(self, number: str) -> str:
        """Name whom a phone means by a number that it asks for: an agent's extension, or itself."""
        return f"agent:{number}" if number and self.by_template(number) else number

    def views(self, account: str, agents: Mapping[str, Agent]) -> Iterator[AgentView]:
        """Show agents of an account, by id."""
        busy = {leg.agent: call.id for call in self._calls(account) for leg in call.legs}
        for agent_id, agent in sorted(agents.items()):
            yield AgentView(
                agent_id=agent_id,
                endpoint=agent.endpoint,
                presence=self._presence(agent.endpoint),
                busy=agent_id in busy,
                name=agent.name,
                caller_id=agent.caller_id,
                call_id=busy.get(agent_id),
                nodes=self._registered(agent.endpoint),
            )

    def _calls(self, account: str) -> Iterator[Call]:
        for node in self.switch.nodes.values():
            for desk in node.shards.values():
                for actor in desk.actors.values():
                    if actor.call.account == account:
                        yield actor.call

    def _registered(self, endpoint: str) -> tuple[str, ...]:
        presences = self.presences.items()
        return tuple(name for name, each in presences if each.of(endpoint) == "online")

    def _presence(self, endpoint: str) -> Presence:
        """Sum up the nodes: it may be registered at one that can't be heard."""
        found = {each.of(endpoint) for each in self.presences.values()}
        is_all_heard = all(each.is_heard for each in self.presences.values())
        if "online" in found:
            return "online"
        return "offline" if "offline" in found and is_all_heard else "unknown"
