"""Flags of commands that call somebody in: an agent or a number, and who asks for it."""

from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from engine.cli.errors import UsageError

DEFAULT_REQUESTER = "operator"
Requester = Annotated[str, Parameter(help="Who asks: an agent's id.")]


@Parameter(name="*")
@dataclass(frozen=True)
class PartyOptions:
    """Whom to call, and how."""

    agent: Annotated[str, Parameter(help="Agent to call.")] = ""
    number: Annotated[str, Parameter(help="Number or sip: address to call.")] = ""
    name: Annotated[str, Parameter(help="Name of the agent, to be shown.")] = ""
    moh: Annotated[str, Parameter(help="Address of what who waits hears.")] = ""
    timeout: Annotated[float, Parameter(help="Seconds to let it ring.")] = 30

    def check(self) -> None:
        """Check that it is one of both; raises BadUse."""
        if bool(self.agent) == bool(self.number):
            raise UsageError("whom to call? name an --agent or a --number, one of both")
        if self.name and not self.agent:
            raise UsageError("--name is of an --agent")

    def target(self) -> dict[str, str]:
        """Give the target of a transfer; raises BadUse."""
        self.check()
        if not self.agent:
            return {"kind": "number", "number": self.number}
        named = {"agentName": self.name} if self.name else {}
        return {"kind": "agent", "agentId": self.agent, **named}

    def member(self) -> dict[str, Any]:
        """Give the one who is to be a member of a conference; raises BadUse."""
        self.check()
        if not self.agent:
            return {"targetExternalNumber": self.number}
        named = {"targetAgentNames": {self.agent: self.name}} if self.name else {}
        return {"targetAgentIds": [self.agent], **named}

    def ringing(self) -> dict[str, Any]:
        """Give what goes on while it rings."""
        return {"timeout": self.timeout} | ({"mohAudioUrl": self.moh} if self.moh else {})


NO_PARTY = PartyOptions()
