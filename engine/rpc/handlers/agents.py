"""RPC operations on agents: an account's directory with presence and active calls."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain

import msgspec
from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace

from engine.rpc.lookup import name_in
from engine.rpc.peers.fan_out import FanOut
from engine.rpc.problems import Conflict, NotFound
from engine.runtime.agents.agent_documents import AgentDocuments
from engine.runtime.agents.agent_presence import AgentPresence
from engine.runtime.agents.phone_credentials import EndpointTaken
from engine.runtime.agents.phone_passwords import PhonePasswords
from engine.runtime.policy.dial_policy import DialPolicy
from engine.store.store import Store
from wire.agents import (
    Agent,
    Agents,
    AgentView,
    DraftedPhone,
    LoginDraft,
    LoginNodes,
    PhoneDraft,
    Presence,
    phone_name,
)
from wire.decoding.errors import BadInput
from wire.decoding.messages import decode_message
from wire.decoding.patterns import PATTERNS, TEXT_LINE

PRESENCE_PRECEDENCE: tuple[Presence, ...] = ("online", "offline", "unknown")


class AgentHandlers(Struct, frozen=True):
    store: Store
    agent_presence: AgentPresence
    fan_out: FanOut
    documents: AgentDocuments
    passwords: PhonePasswords
    dial_policy: DialPolicy

    async def list(self, request: web.Request) -> Agents:
        """List the agents of an account, or those in the query."""
        account, wanted = request.query.get("account", ""), request.query.get("agents")
        if not account:
            raise BadInput("account", "required")
        found = await self.store.agents(account, None if wanted is None else wanted.split(","))
        agents = {name: decode_message(body, Agent) for name, body in found.items()}
        remote = [agents.agents for agents in await self.fan_out.collect(request, Agents)]
        return Agents(tuple(merge_views([*self.agent_presence.views(account, agents)], *remote)))

    async def get(self, request: web.Request) -> AgentView:
        """Show an agent; one that is not in the directory uses the endpoint template."""
        account, agent_id = request.match_info["account"], name_in(request, "agent")
        body = await self.store.agent(account, agent_id)
        agent = (
            decode_message(body, Agent)
            if body
            else self.agent_presence.by_template(account, agent_id)
        )
        local = [*self.agent_presence.views(account, {agent_id: agent})] if agent else []
        views = merge_views(local, await self.fan_out.collect(request, AgentView))
        if not views:
            raise NotFound(f"no agent {agent_id}")
        return views[0]

    async def check(self, request: web.Request, agent: Agent) -> None:
        """Validate an agent without storing it; its endpoint is kept for the account a minute.

        An endpoint of the nodes' configuration is the operator's: it needs `granted=true`.
        """
        account, agent_id = name_in(request, "account"), name_in(request, "agent")
        await self._check(account, agent_id, agent)
        if request.query.get("granted") != "true":
            await self.passwords.check_unconfigured(agent.endpoint)
        with _conflicts():
            await self.documents.reserve(account, agent.endpoint)

    async def draft_password(self, request: web.Request, draft: PhoneDraft) -> DraftedPhone:
        """Return the document of a phone's password, which the REST layer stores."""
        account, agent_id = name_in(request, "account"), name_in(request, "agent")
        with _conflicts():
            found = await self.passwords.draft(account, agent_id, draft.agent, draft.password)
        document = msgspec.Raw(msgspec.json.encode(found))
        return DraftedPhone(phone_name(draft.agent.endpoint), document)

    async def draft_login(self, request: web.Request, draft: LoginDraft) -> DraftedPhone:
        """Return the document of a phone with one more login, which the REST layer stores."""
        account, agent_id = name_in(request, "account"), name_in(request, "agent")
        with _conflicts():
            found = await self.passwords.draft_login(account, agent_id, draft, bytes(draft.known))
        document = msgspec.Raw(msgspec.json.encode(found))
        return DraftedPhone(phone_name(draft.agent.endpoint), document)

    async def login_nodes(self, request: web.Request) -> LoginNodes:
        """Return the nodes that accept a login of an agent's phone; waits until one does."""
        account, agent_id = name_in(request, "account"), name_in(request, "agent")
        body = await self.store.agent(account, agent_id)
        if body is None:
            raise NotFound(f"no agent {agent_id} in the directory of account {account}")
        endpoint = decode_message(body, Agent).endpoint
        username = request.query.get("username", "")
        found = await self.passwords.nodes_with(account, agent_id, endpoint, username)
        return LoginNodes(found)

    async def _check(self, account: str, agent_id: str, agent: Agent) -> None:
        """Check that an agent can have its name and endpoint; raises BadInput, Conflict."""
        endpoint = agent.endpoint
        if re.search(TEXT_LINE, agent.name) is None:  # a SIP header of the agent's phone has it
            raise BadInput("name", f"expected {PATTERNS[TEXT_LINE]}")
        if self.agent_presence.directory.is_trunk(endpoint):
            raise BadInput("endpoint", "is the trunk")
        if await self.passwords.credentials.is_of_another(endpoint, account, agent_id):
            raise Conflict(f"{endpoint} is another agent's phone", "endpoint_taken")


@contextmanager
def _conflicts() -> Iterator[None]:
    """Let an endpoint that is another's be a Conflict."""
    try:
        yield
    except EndpointTaken as error:
        raise Conflict(str(error), "endpoint_taken") from None


def merge_views(*views: Sequence[AgentView]) -> list[AgentView]:
    """Merge the views of all engines: one sees the registration, another has the call."""
    merged: dict[str, AgentView] = {}
    for view in chain(*views):
        known = merged.get(view.agent_id)
        merged[view.agent_id] = _merge(known, view) if known else view
    return list(merged.values())


def _merge(one: AgentView, other: AgentView) -> AgentView:
    presences = {one.presence, other.presence}
    return replace(
        one,
        presence=next(each for each in PRESENCE_PRECEDENCE if each in presences),
        busy=one.busy or other.busy,
        call_id=one.call_id or other.call_id,
        nodes=tuple(sorted({*one.nodes, *other.nodes})),
    )
