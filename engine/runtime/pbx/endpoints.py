"""Endpoint templates: how a node addresses parties and media."""

from msgspec import Struct

from engine.runtime.base.ports import AgentResolver, DialPolicy


class EndpointTemplates(Struct, frozen=True):
    """A node's endpoint templates, its Stasis app and its media URL.

    Without `agents` every agent has the endpoint of the `agent` template; without `policy` every
    party may be called.
    """

    app: str
    trunk: str
    agent: str
    media_url: str
    agents: AgentResolver | None = None  # agents with an endpoint of their own
    policy: DialPolicy | None = None  # which parties may be called

    def endpoint(self, party: str) -> str:
        """Return the endpoint of a number, `agent:1001` or a sip: URI."""
        if party.startswith("agent:"):
            return self.agent.format(agent_id=party.removeprefix("agent:"))
        if party.startswith(("sip:", "sips:")):
            return f"PJSIP/trunk/{party}"
        return self.trunk.format(number=party)
