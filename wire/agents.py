"""Agents: who they are, where their phones register, and whether they can be called now."""

from typing import Annotated, Literal

from msgspec import Meta

from wire import patterns
from wire.base import CallerId, Shape

Presence = Literal["online", "offline", "unknown"]
Endpoint = Annotated[str, Meta(pattern=patterns.ENDPOINT)]


class Agent(Shape, frozen=True):
    """An entry of an account's directory; callerId is shown to others when the agent calls."""

    endpoint: Endpoint
    name: Annotated[str, Meta(max_length=128)] = ""
    caller_id: CallerId | None = None


class AgentView(Shape, frozen=True):
    """An agent now: registered on which nodes, and in which call; unknown: a node is away."""

    agent_id: str
    endpoint: str
    presence: Presence
    busy: bool
    name: str = ""
    caller_id: str | None = None
    call_id: str | None = None
    nodes: tuple[str, ...] = ()


class Agents(Shape, frozen=True):
    """The agents of an account."""

    agents: tuple[AgentView, ...]
