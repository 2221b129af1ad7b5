"""Endpoint templates: how a node addresses parties and media."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.runtime.base.interfaces import AgentResolver, DialPolicy
from wire.party import Party


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
    trunk_refers: bool = False  # whether a party of the trunk may transfer by REFER
    trunks: Mapping[str, str] = {}  # templates of all trunks, by name, in order; else `trunk` only
    agent_gets_leg: bool = False  # whether the agent's phone gets the id of its leg
    caller_name: str = ""  # that the agent's phone shows

    def over_trunk(self, number: int, names: tuple[str, ...]) -> "EndpointTemplates | None":
        """Return the templates with the trunk of a number among the names; None: there is none.

        Without names, all trunks are meant.
        """
        if not self.trunks:
            return self if number == 0 else None
        chosen = names or tuple(self.trunks)
        template = self.trunks.get(chosen[number]) if number < len(chosen) else None
        return replace(self, trunk=template) if template is not None else None

    def endpoint(self, party: str) -> str:
        """Return the endpoint of a number, `agent:1001` or a sip: URI."""
        parsed = Party.parse(party)
        match parsed.kind:
            case "agent":
                return self.agent.format(agent_id=parsed.id)
            case "sip":
                return f"PJSIP/trunk/{parsed.id}"
            case "number":
                return self.trunk.format(number=parsed.id)


def trunk_templates(first: str, further: Sequence[str]) -> Mapping[str, str]:
    """Return the templates; those of further trunks differ from the first in their name."""
    name = trunk_name(first)
    return {name: first} | {each: _renamed(first, name, each) for each in further}


def trunk_name(trunk_endpoint: str) -> str:
    """Return the trunk's endpoint name, as the dial string of a number contains it."""
    _, _, resource = trunk_endpoint.partition("/")
    return resource.partition("/")[0] if "/" in resource else resource.rpartition("@")[2]


def _renamed(template: str, name: str, other: str) -> str:
    tech, _, resource = template.partition("/")
    if "/" in resource:
        return f"{tech}/{other}/{resource.partition('/')[2]}"
    return f"{template.removesuffix(name)}{other}"
