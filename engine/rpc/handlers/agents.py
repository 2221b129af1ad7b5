"""Agents over RPC: an account's directory, with presence and what keeps them busy."""

from collections.abc import Sequence
from itertools import chain

import msgspec
from aiohttp import web
from msgspec.structs import replace

from engine.rpc.handlers.number_routes import name_in
from engine.rpc.json_body import json_response, read_body
from engine.rpc.peers.fan_out import FanOut
from engine.rpc.problems import NotFound
from engine.runtime.agents.status import AgentStatus
from engine.store.store import Store
from wire.agents import Agent, Agents, AgentView, Presence
from wire.errors import BadInput

PRESENCE_PRECEDENCE: tuple[Presence, ...] = ("online", "offline", "unknown")


class AgentHandlers:
    """One method a request."""

    def __init__(self, store: Store, roster: AgentStatus, everyone: FanOut) -> None:
        self._everyone = everyone
        self._store = store
        self._roster = roster

    def routes(self) -> Sequence[web.RouteDef]:
        """Say what is answered where."""
        return [
            web.get("/agents", self.list),
            web.get("/agents/{account}/{agent}", self.get),
            web.put("/agents/{account}/{agent}", self.put),
            web.delete("/agents/{account}/{agent}", self.delete),
        ]

    async def list(self, request: web.Request) -> web.Response:
        """List the agents of an account."""
        account = request.query.get("account", "")
        if not account:
            raise BadInput("account", "required")
        found = await self._store.agents(account)
        agents = {name: msgspec.json.decode(body, type=Agent) for name, body in found.items()}
        lists = [one.agents for one in await self._everyone.collect(request, Agents)]
        return json_response(
            Agents(tuple(merge_views([*self._roster.views(account, agents)], *lists)))
        )

    async def get(self, request: web.Request) -> web.Response:
        """Show an agent; one whom no document names is where the settings' template says."""
        account, agent_id = request.match_info["account"], name_in(request, "agent")
        body = await self._store.agent(account, agent_id)
        agent = (
            msgspec.json.decode(body, type=Agent) if body else self._roster.by_template(agent_id)
        )
        ours = [*self._roster.views(account, {agent_id: agent})] if agent else []
        views = merge_views(ours, await self._everyone.collect(request, AgentView))
        if not views:
            raise NotFound(f"no agent {agent_id}")
        return json_response(views[0])

    async def put(self, request: web.Request) -> web.Response:
        """Say where an agent's phone registers, and the agent's name."""
        account, agent_id = name_in(request, "account"), name_in(request, "agent")
        agent = await read_body(request, Agent)
        if self._roster.directory.is_trunk(agent.endpoint):
            raise BadInput("endpoint", "is the trunk's")
        await self._store.put_agent(account, agent_id, msgspec.json.encode(agent))
        ours = [*self._roster.views(account, {agent_id: agent})]
        return json_response(merge_views(ours, await self._everyone.collect(request, AgentView))[0])

    async def delete(self, request: web.Request) -> web.Response:
        """Take an agent out of the directory."""
        account, agent_id = request.match_info["account"], request.match_info["agent"]
        if await self._store.agent(account, agent_id) is None:
            raise NotFound(f"no agent {agent_id} in the directory of account {account}")
        await self._store.put_agent(account, agent_id, None)
        return json_response({})


def merge_views(*shown: Sequence[AgentView]) -> list[AgentView]:
    """Make one view an agent of what engines see: one hears who registers, any has the call."""
    found: dict[str, AgentView] = {}
    for view in chain(*shown):
        known = found.get(view.agent_id)
        found[view.agent_id] = _both(known, view) if known else view
    return list(found.values())


def _both(one: AgentView, other: AgentView) -> AgentView:
    presences = {one.presence, other.presence}
    return replace(
        one,
        presence=next(each for each in PRESENCE_PRECEDENCE if each in presences),
        busy=one.busy or other.busy,
        call_id=one.call_id or other.call_id,
        nodes=one.nodes or other.nodes,
    )
