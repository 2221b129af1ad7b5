"""Agents over RPC: an account's directory, with presence and what keeps them busy."""

from collections.abc import Mapping

import msgspec
from aiohttp import web

from engine.rpc.bodies import answer, read
from engine.rpc.documents import name_in
from engine.rpc.problems import NotFound
from engine.runtime.roster import Roster
from engine.store.store import Store
from wire.agents import Agent, Agents, AgentView
from wire.errors import BadInput


class AgentHandlers:
    """One method a request."""

    def __init__(self, store: Store, roster: Roster) -> None:
        self._store = store
        self._roster = roster

    async def list(self, request: web.Request) -> web.Response:
        """List the agents of an account."""
        account = request.query.get("account", "")
        if not account:
            raise BadInput("account", "required")
        found = await self._store.agents(account)
        agents = {name: msgspec.json.decode(body, type=Agent) for name, body in found.items()}
        return answer(Agents(tuple(self._roster.views(account, agents))))

    async def get(self, request: web.Request) -> web.Response:
        """Show an agent; one whom no document names is where the settings' template says."""
        account, agent_id = request.match_info["account"], name_in(request, "agent")
        body = await self._store.agent(account, agent_id)
        agent = msgspec.json.decode(body, type=Agent) if body else self._roster.unlisted(agent_id)
        if agent is None:
            raise NotFound(f"no agent {agent_id}")
        return answer(self._view(account, {agent_id: agent}))

    async def put(self, request: web.Request) -> web.Response:
        """Say where an agent's phone registers, and the agent's name."""
        account, agent_id = name_in(request, "account"), name_in(request, "agent")
        agent = await read(request, Agent)
        if self._roster.directory.is_trunk(agent.endpoint):
            raise BadInput("endpoint", "is the trunk's")
        await self._store.put_agent(account, agent_id, msgspec.json.encode(agent))
        return answer(self._view(account, {agent_id: agent}))

    async def delete(self, request: web.Request) -> web.Response:
        """Take an agent out of the directory."""
        account, agent_id = request.match_info["account"], request.match_info["agent"]
        await self._store.put_agent(account, agent_id, None)
        return answer({})

    def _view(self, account: str, agent: Mapping[str, Agent]) -> AgentView:
        return next(self._roster.views(account, agent))
