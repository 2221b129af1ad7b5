"""A party that can be called (a phone number, an agent, a SIP address), and one that forwarded."""

from typing import Literal

from msgspec import Struct

PartyKind = Literal["number", "agent", "sip"]
AGENT_PREFIX = "agent:"
ENDPOINT_PREFIX = "PJSIP/"
SIP_PREFIXES = ("sip:", "sips:")


class Party(Struct, frozen=True):
    """`id` is a number, an agent's id, or a whole SIP URI; `str(party)` is what `parse` reads."""

    kind: PartyKind
    id: str

    @classmethod
    def parse(cls, text: str) -> "Party":
        """Parse a party; what is neither an agent nor a SIP URI is a number."""
        if text.startswith(AGENT_PREFIX):
            return cls("agent", text.removeprefix(AGENT_PREFIX))
        return cls("sip" if text.startswith(SIP_PREFIXES) else "number", text)

    @classmethod
    def agent(cls, agent_id: str) -> "Party":
        """Return the party of an agent."""
        return cls("agent", agent_id)

    @property
    def agent_id(self) -> str | None:
        """The agent's id; None for other kinds."""
        return self.id if self.kind == "agent" else None

    @property
    def host(self) -> str:
        """The host of a SIP address, in lower case and without its port; empty for other kinds."""
        if self.kind != "sip":
            return ""
        return self.id.rpartition("@")[2].partition(":")[0].lower()

    @property
    def is_by_trunk(self) -> bool:
        """Whether it is reached through the trunk; agents have their own endpoints."""
        return self.kind != "agent"

    def __str__(self) -> str:
        return AGENT_PREFIX + self.id if self.kind == "agent" else self.id


class Diversion(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A number that forwarded the call, with the reason in words of RFC 5806: `no-answer`.

    With `privacy` it asks not to be shown to others.
    """

    number: str
    reason: str = ""
    privacy: bool = False
