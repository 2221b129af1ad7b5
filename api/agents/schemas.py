"""Requests and views of agents."""

from msgspec import UNSET, Struct, UnsetType
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from api.common.timestamps import format_ms
from api.documents.document import Document
from api.http.paging import MAX_LIMIT, MAX_OFFSET
from wire.agents import Agent, AgentView, PhoneKind, Presence
from wire.decoding.messages import decode_message

MAX_WITH_PRESENCE = 100  # the engines are asked for each


class AgentQuery(BaseModel):
    """The page of a list."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)

    limit: int = Field(100, ge=1, le=MAX_LIMIT, description="Rows of a page.")
    offset: int = Field(0, ge=0, le=MAX_OFFSET, description="Rows to skip.")
    with_presence: bool = Field(
        False,
        description="Also presence and calls, of 100 agents at most.",
    )


class AgentState(Struct, frozen=True, rename="camel"):
    """Whether an agent's phone is registered, where, and the agent's live call."""

    presence: Presence
    busy: bool
    call_id: str | None
    nodes: tuple[str, ...]


class AgentRow(Struct, frozen=True, rename="camel"):
    """An agent of the directory; `version` is its ETag without quotes."""

    agent_id: str
    endpoint: str
    name: str
    caller_id: str | None
    phone: PhoneKind
    version: int
    changed_time: str
    state: AgentState | UnsetType = UNSET


class AgentPage(Struct, frozen=True):
    """A page of agents, ordered by id."""

    data: tuple[AgentRow, ...]
    total: int
    limit: int
    offset: int


def agent_row(document: Document, state: AgentState | UnsetType = UNSET) -> AgentRow:
    agent = decode_agent(document)
    return AgentRow(
        document.id,
        agent.endpoint,
        agent.name,
        agent.caller_id,
        agent.phone,
        document.version,
        format_ms(document.changed_ms),
        state,
    )


def agent_state(view: AgentView) -> AgentState:
    return AgentState(view.presence, view.busy, view.call_id, view.nodes)


def decode_agent(document: Document) -> Agent:
    return decode_message(document.body, Agent)
