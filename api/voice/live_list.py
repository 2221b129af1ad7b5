"""An account's live calls as a list with filters and pages."""

from typing import Literal

import msgspec
from msgspec import Raw, Struct
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from api.auth.principal import Principal
from api.engine_client import EngineClient
from api.http.paging import MAX_LIMIT, MAX_OFFSET
from api.voice.views import CallDetails, call_details
from wire.decoding.messages import decode_message
from wire.views import CallView


class LiveCallQuery(BaseModel):
    """Filters and page of a list; a call must match all filters."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)

    direction: Literal["inbound", "outbound"] | None = None
    state: str = Field("", max_length=32, description="As in a call's `state`: `bridged`.")
    number: str = Field("", max_length=128, description="Its `from` or its `to`.")
    agent_id: str = Field("", max_length=128, description="An agent with a live leg.")
    limit: int = Field(100, ge=1, le=MAX_LIMIT, description="Rows of a page.")
    offset: int = Field(0, ge=0, le=MAX_OFFSET, description="Rows to skip.")


class LiveCallPage(Struct, frozen=True):
    """A page of live calls, newest first."""

    data: tuple[CallDetails, ...]  # type: ignore[valid-type]  # a shape that is built at run time
    total: int
    limit: int
    offset: int


class _EngineCalls(Struct, frozen=True):
    calls: tuple[Raw, ...]


class _Page(Struct, frozen=True):
    """What `LiveCallPage` describes, with calls that are encoded already."""

    data: tuple[Raw, ...]
    total: int
    limit: int
    offset: int


async def list_live_calls(engine: EngineClient, user: Principal, query: LiveCallQuery) -> bytes:
    """Return a page of the account's live calls; an agent's token lists that agent's calls."""
    own = user.only_agent("calls")
    account = {"account": user.account_id}
    listed = await engine.request(_EngineCalls, "GET", "/calls", query=account)
    found = [(decode_message(view, CallView), view) for view in listed.calls]
    matching = [
        (call, view) for call, view in found if _is_visible(call, own) and _matches(call, query)
    ]
    matching.sort(key=lambda each: (each[0].created_ms, each[0].call_id), reverse=True)
    shown = matching[query.offset :][: query.limit]
    rows = tuple(Raw(call_details(bytes(view))) for _, view in shown)
    return msgspec.json.encode(_Page(rows, len(matching), query.limit, query.offset))


def _matches(call: CallView, query: LiveCallQuery) -> bool:
    agents = {leg.agent_id for leg in call.legs}
    return (
        query.direction in {None, call.direction}
        and query.state in {"", call.state}
        and query.number in {"", call.from_, call.to}
        and (not query.agent_id or query.agent_id in agents)
    )


def _is_visible(call: CallView, agent: str | None) -> bool:
    return agent is None or agent in call.agents
