"""Options of commands that dial a party: agent or number, and the requesting agent."""

from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from cli.errors import UsageError

DEFAULT_REQUESTER = "operator"
Requester = Annotated[str, Parameter(help="Id of the requesting agent.")]


@Parameter(name="*")
@dataclass(frozen=True)
class PartyOptions:
    """The party to dial, and how."""

    agent: Annotated[str, Parameter(help="Agent to dial.")] = ""
    number: Annotated[str, Parameter(help="Number or sip: address to dial.")] = ""
    name: Annotated[str, Parameter(help="Display name of the agent.")] = ""
    moh: Annotated[str, Parameter(help="Hold-music URL.")] = ""
    timeout: Annotated[float, Parameter(help="Ring timeout in seconds.")] = 30

    def check(self) -> None:
        """Check that either an agent or a number is given; raises UsageError."""
        if bool(self.agent) == bool(self.number):
            raise UsageError("exactly one of --agent and --number is required")
        if self.name and not self.agent:
            raise UsageError("--name requires --agent")

    def target(self) -> dict[str, str]:
        """Return the target of a transfer; raises UsageError."""
        self.check()
        if not self.agent:
            return {"kind": "number", "number": self.number}
        name = {"agentName": self.name} if self.name else {}
        return {"kind": "agent", "agentId": self.agent, **name}

    def member(self) -> dict[str, Any]:
        """Return the new member of a conference; raises UsageError."""
        self.check()
        if not self.agent:
            return {"targetExternalNumber": self.number}
        name = {"targetAgentNames": {self.agent: self.name}} if self.name else {}
        return {"targetAgentIds": [self.agent], **name}

    def ringing(self) -> dict[str, Any]:
        """Return the ring timeout and the hold music."""
        return {"timeout": self.timeout} | ({"mohAudioUrl": self.moh} if self.moh else {})


NO_PARTY = PartyOptions()
