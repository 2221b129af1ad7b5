"""An account's agents in this engine's memory: read once, then change by change."""

import asyncio
from collections.abc import Callable, Mapping

import msgspec
import structlog
from msgspec import Struct

from engine.store.store import MAX_CHANGES, Store
from wire.agents import Agent
from wire.decoding.messages import decode_message

log = structlog.get_logger()
REREAD_INTERVAL_MS = 3_600_000  # finds changes that a store lost
AGENTS_PER_STEP = 250  # decoded before other work takes its turn


class Caller(Struct, frozen=True):
    """The agent that calls from an endpoint, with its caller id and name; empty: no agent.

    A foreign phone is not the called account's; `owner` is whose it is, empty if it is no one's.
    """

    agent_id: str = ""
    caller_id: str = ""
    name: str = ""
    is_foreign: bool = False
    owner: str = ""


class AccountAgents:
    """The agents by id and by endpoint; `update` reads what has changed since the last time."""

    def __init__(self, store: Store, account: str, now_ms: Callable[[], int]) -> None:
        self._store = store
        self._account = account
        self._now_ms = now_ms
        self._bodies: dict[str, bytes] = {}
        self._agents: dict[str, Agent] = {}
        self._ids: dict[str, set[str]] = {}  # by endpoint
        self._position = ""
        self._reread_ms = 0

    def __contains__(self, agent_id: str) -> bool:
        return agent_id in self._agents

    def caller(self, endpoint: str) -> Caller | None:
        """Return the agent with an endpoint, the one with the lowest id of several."""
        ids = self._ids.get(endpoint)
        if not ids:
            return None
        agent_id = min(ids)
        agent = self._agents[agent_id]
        return Caller(agent_id, agent.caller_id or "", agent.name)

    async def update(self) -> None:
        """Read the changes; raises StoreDown."""
        if not self._position or self._now_ms() >= self._reread_ms:
            await self._reread()
            return
        changed, position = await self._store.agent_changes(self._account, self._position)
        if len(changed) >= MAX_CHANGES:
            await self._reread()
            return
        ids = sorted(set(changed))
        bodies = await asyncio.gather(*(self._store.agent(self._account, each) for each in ids))
        await self._put(dict(zip(ids, bodies, strict=True)))
        self._position = position

    async def _reread(self) -> None:
        _, position = await self._store.agent_changes(self._account, "")
        bodies = await self._store.agents(self._account)
        await self._put({**dict.fromkeys(self._bodies.keys() - bodies.keys()), **bodies})
        self._position = position
        self._reread_ms = self._now_ms() + REREAD_INTERVAL_MS

    async def _put(self, bodies: Mapping[str, bytes | None]) -> None:
        """Take over documents that differ from those known; None: there is none any more."""
        changed = [each for each, body in bodies.items() if self._bodies.get(each) != body]
        for number, agent_id in enumerate(changed, 1):
            self._replace(agent_id, bodies[agent_id])
            if number % AGENTS_PER_STEP == 0:
                await asyncio.sleep(0)

    def _replace(self, agent_id: str, body: bytes | None) -> None:
        before = self._agents.pop(agent_id, None)
        if before is not None:
            self._ids[before.endpoint].discard(agent_id)
            if not self._ids[before.endpoint]:
                del self._ids[before.endpoint]
        if body is None:
            self._bodies.pop(agent_id, None)
            return
        self._bodies[agent_id] = body
        try:
            agent = decode_message(body, Agent)
        except msgspec.DecodeError as error:  # of another version, which must not stop calls
            log.warning("invalid agent", account=self._account, agent=agent_id, error=str(error))
            return
        self._agents[agent_id] = agent
        self._ids.setdefault(agent.endpoint, set()).add(agent_id)
