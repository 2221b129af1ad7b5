"""Rejects agents that cannot be called, as far as this engine knows."""

import asyncio

from engine.runtime.agents.agent_presence import AgentPresence, AgentRejection
from wire.decoding.errors import BadInput
from wire.party import Party


async def reject_agent(agents: AgentPresence, account: str, party: str) -> AgentRejection:
    """Return why a party cannot be called, if it is an agent; raises StoreDown.

    An agent that was stored a moment ago is known, although its endpoint may not be yet.
    """
    agent_id = Party.parse(party).agent_id
    if agent_id is None:
        return ""
    checked: asyncio.Future[AgentRejection] = asyncio.get_running_loop().create_future()
    agents.check(account, agent_id, checked.set_result)
    rejection = await checked
    is_unknown = rejection == "unknown_agent"
    return "" if is_unknown and await agents.directory.is_stored(account, agent_id) else rejection


async def check_agent_exists(agents: AgentPresence, account: str, party: str, path: str) -> None:
    """Check that an agent exists, online or not; raises BadInput, StoreDown."""
    if await reject_agent(agents, account, party) == "unknown_agent":
        raise BadInput(path, f"no agent {Party.parse(party).id}", "unknown_agent")
