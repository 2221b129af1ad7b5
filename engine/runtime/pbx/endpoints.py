"""How a node reaches parties and media."""

from msgspec import Struct

from engine.runtime.base.ports import AgentResolver, DialPolicy


class EndpointTemplates(Struct, frozen=True):
    """Templates of endpoints, and the media's address.

    Without agents all are as `agent` says, without a judge anybody may be called.
    """

    app: str
    trunk: str
    agent: str
    media_url: str
    agents: AgentResolver | None = None  # who has an endpoint of its own
    judge: DialPolicy | None = None  # who may be called

    def endpoint(self, party: str) -> str:
        """Name the endpoint of a number, `agent:1001` or a sip: address."""
        if party.startswith("agent:"):
            return self.agent.format(agent_id=party.removeprefix("agent:"))
        if party.startswith(("sip:", "sips:")):
            return f"PJSIP/trunk/{party}"
        return self.trunk.format(number=party)
