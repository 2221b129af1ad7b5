"""The current state of agents: their endpoints, registrations and calls."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

from engine.calls.model.call import Call
from engine.runtime.agents.configured_endpoints import ConfiguredEndpoints
from engine.runtime.agents.directory import Directory
from engine.runtime.agents.registered_endpoints import RegisteredEndpoints
from engine.runtime.base.interfaces import AgentPhone
from wire.agents import Agent, AgentView, PhoneKind, Presence
from wire.party import Party

AgentRejection = Literal["", "unknown_agent", "agent_offline"]


class AgentPresence:
    """Looks agents up in this engine's nodes and calls.

    By node: every engine knows the `configured_endpoints` of all nodes; the supervisor of a node
    watches its registrations and has `registered_endpoints`.
    """

    def __init__(
        self,
        directory: Directory,
        live_calls: Callable[[], Iterable[Call]],
        configured_endpoints: dict[str, ConfiguredEndpoints] | None = None,
    ) -> None:
        self.directory = directory
        self.registered_endpoints: dict[str, RegisteredEndpoints] = {}
        self.configured_endpoints = {} if configured_endpoints is None else configured_endpoints
        self._live_calls = live_calls

    def by_template(self, account: str, agent_id: str) -> Agent | None:
        """Return an agent without a document, if a node has the endpoint of the template."""
        endpoint = self.directory.default(account, agent_id)
        if endpoint is None:
            return None
        is_known = any(each.knows(endpoint) for each in self.registered_endpoints.values()) or any(
            each.knows(endpoint) for each in self.configured_endpoints.values()
        )
        return Agent(endpoint) if is_known else None

    def party_of(self, account: str, number: str) -> str:
        """Return the party that a phone dials by a number: an agent's extension, or itself."""
        is_agent = self.directory.has_document(account, number) or (
            number and self.by_template(account, number)
        )
        return str(Party.agent(number)) if is_agent else number

    def check(self, account: str, agent_id: str, done: Callable[[AgentRejection], None]) -> None:
        """Pass to `done` why an agent cannot be called, as far as this engine knows.

        It knows that an agent is offline only if it watches all nodes.
        """
        self.directory.resolve(
            account, agent_id, lambda phone: done(self._rejection(account, agent_id, phone))
        )

    def _rejection(self, account: str, agent_id: str, phone: AgentPhone | None) -> AgentRejection:
        if phone is None or self._is_unknown(account, agent_id, phone.endpoint):
            return "unknown_agent"
        is_offline = self._watches_all and self._presence(phone.endpoint) == "offline"
        return "agent_offline" if is_offline else ""

    @property
    def _watches_all(self) -> bool:
        """Whether this engine knows the registrations at all nodes."""
        watched = self.registered_endpoints
        is_all = bool(watched) and watched.keys() >= self.configured_endpoints.keys()
        return is_all and all(each.is_known for each in watched.values())

    def _is_unknown(self, account: str, agent_id: str, endpoint: str) -> bool:
        """Return whether an agent has neither a document nor an endpoint at any node."""
        lists = self.configured_endpoints.values()
        is_complete = bool(lists) and all(each.is_read for each in lists)
        is_complete = is_complete or self._watches_all
        is_default = endpoint == self.directory.default(account, agent_id)
        return is_complete and is_default and self.by_template(account, agent_id) is None

    def views(self, account: str, agents: Mapping[str, Agent]) -> Iterator[AgentView]:
        """Iterate over the views of an account's agents, ordered by id."""
        calls = (call for call in self._live_calls() if call.account == account)
        busy = {
            leg.agent: call.id for call in calls for leg in call.legs if not leg.is_local_channel
        }
        for agent_id, agent in sorted(agents.items()):
            yield AgentView(
                agent_id=agent_id,
                endpoint=agent.endpoint,
                presence=self._presence(agent.endpoint, agent.phone),
                busy=agent_id in busy,
                name=agent.name,
                caller_id=agent.caller_id,
                call_id=busy.get(agent_id),
                nodes=self._registered(agent.endpoint),
            )

    def _registered(self, endpoint: str) -> tuple[str, ...]:
        nodes = self.registered_endpoints.items()
        return tuple(name for name, each in nodes if each.of(endpoint) == "online")

    def _presence(self, endpoint: str, kind: PhoneKind = "sip") -> Presence:
        """Combine the nodes: it may be registered at one whose presence is not known.

        Nodes have the endpoint of a browser's phone only from its first credentials on.
        """
        found = {each.of(endpoint) for each in self.registered_endpoints.values()}
        if "online" in found:
            return "online"
        is_complete = all(each.is_known for each in self.registered_endpoints.values())
        is_offline = "offline" in found or (bool(found) and kind == "browser")
        return "offline" if is_offline and is_complete else "unknown"
