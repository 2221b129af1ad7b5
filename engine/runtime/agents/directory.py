"""The directory of agents: at which endpoint an agent is called, and whose an endpoint is."""

import asyncio
import re
from collections.abc import Callable
from typing import Protocol

import msgspec
import structlog
from msgspec import Struct

from engine.runtime.base.ttl_cache import DEFAULT_TTL_MS, TtlCache
from engine.store.errors import StoreDown
from wire.agents import Agent
from wire.patterns import NAME

log = structlog.get_logger()
MAX_ACCOUNTS = 1_000


class Documents(Protocol):
    """Where accounts' agents are stored."""

    async def agent(self, account: str, agent_id: str) -> bytes | None:
        """Read an account's agent."""

    async def agents(self, account: str) -> dict[str, bytes]:
        """Read all agents of an account, by id."""


class Caller(Struct, frozen=True):
    """The agent who calls from an endpoint, and the number to show; empty: no agent."""

    agent_id: str = ""
    caller_id: str = ""


class Callers(Struct, frozen=True):
    """The agents of an account: who calls from an endpoint, and who has one of their own."""

    by_endpoint: dict[str, Caller] = {}
    ids: frozenset[str] = frozenset()


class Directory:
    """Finds endpoints by the accounts' documents, or else by the settings' template.

    What was found is remembered for a moment: a busy agent costs one read a second.
    """

    def __init__(
        self,
        documents: Documents,
        now_ms: Callable[[], int],
        agent_endpoint: str,
        trunk_endpoint: str,
        fresh_ms: int = DEFAULT_TTL_MS,
    ) -> None:
        self._documents = documents
        self._template = agent_endpoint
        self._trunk = f"{trunk_endpoint.partition('/')[0]}/{trunk_name(trunk_endpoint)}".casefold()
        self._endpoints = TtlCache(self._endpoint, now_ms, fresh_ms)
        self._callers = TtlCache(self._agents, now_ms, fresh_ms, MAX_ACCOUNTS)
        self._tasks: set[asyncio.Task[None]] = set()

    def resolve(self, account: str, agent_id: str, done: Callable[[str | None], None]) -> None:
        """Give `done` the endpoint of an agent, at once if it is remembered; None: there is none.

        An agent that no document names is at the endpoint of the template, and so are all while
        the store is down. The trunk is nobody's phone.
        """
        if known := self._endpoints.get_fresh((account, agent_id)):
            done(known.value)
            return
        task = asyncio.get_running_loop().create_task(self._resolved(account, agent_id, done))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def known_caller(self, account: str, endpoint: str) -> Caller | None:
        """Tell which agent calls from an endpoint; None: it must be asked for with `agent_of`."""
        if not endpoint or self.is_trunk(endpoint):
            return Caller()
        known = self._callers.get_fresh(account)
        return self._caller(known.value, endpoint) if known else None

    async def agent_of(self, account: str, endpoint: str) -> Caller:
        """Tell which agent of an account calls from an endpoint, by the store if need be."""
        if not endpoint or self.is_trunk(endpoint):
            return Caller()
        try:
            callers = await self._callers.get(account)
        except (StoreDown, msgspec.DecodeError) as error:
            log.warning("agents not read", account=account, error=str(error))
            last = self._callers.get_stale(account)
            callers = last.value if last else Callers()
        return self._caller(callers, endpoint)

    def default(self, agent_id: str) -> str:
        """Name the endpoint of an agent without a document."""
        return self._template.format(agent_id=agent_id)

    def is_trunk(self, endpoint: str) -> bool:
        """Tell whether an endpoint is the trunk's own: no agent is called or calls there."""
        return endpoint.casefold() == self._trunk

    async def close(self) -> None:
        """Leave what is being read: recovery asks again."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _resolved(
        self, account: str, agent_id: str, done: Callable[[str | None], None]
    ) -> None:
        key = (account, agent_id)
        try:
            done(await self._endpoints.get(key))
        except (StoreDown, msgspec.DecodeError) as error:
            log.warning("agent not read", account=account, agent_id=agent_id, error=str(error))
            known = self._endpoints.get_stale(key)
            done(known.value if known else self._unless_trunk(self.default(agent_id), agent_id))

    async def _endpoint(self, key: tuple[str, str]) -> str | None:
        account, agent_id = key
        body = await self._documents.agent(account, agent_id)
        agent = msgspec.json.decode(body, type=Agent) if body else None
        return self._unless_trunk(agent.endpoint if agent else self.default(agent_id), agent_id)

    def _unless_trunk(self, endpoint: str, agent_id: str) -> str | None:
        if self.is_trunk(endpoint):
            log.warning("the trunk is no agent", agent_id=agent_id)
            return None
        return endpoint

    async def _agents(self, account: str) -> Callers:
        return _callers(await self._documents.agents(account))

    def _caller(self, callers: Callers, endpoint: str) -> Caller:
        if caller := callers.by_endpoint.get(endpoint):
            return caller
        agent_id = self._by_template(endpoint)
        return Caller() if agent_id in callers.ids else Caller(agent_id)

    def _by_template(self, endpoint: str) -> str:
        before, _, after = self._template.partition("{agent_id}")
        agent_id = endpoint.removeprefix(before).removesuffix(after)
        is_name = re.search(NAME, agent_id) is not None
        return agent_id if is_name and self.default(agent_id) == endpoint else ""


def _callers(bodies: dict[str, bytes]) -> Callers:
    found = {name: msgspec.json.decode(body, type=Agent) for name, body in bodies.items()}
    by_endpoint: dict[str, Caller] = {}
    for agent_id, agent in sorted(found.items()):
        by_endpoint.setdefault(agent.endpoint, Caller(agent_id, agent.caller_id or ""))
    return Callers(by_endpoint, frozenset(found))


def trunk_name(trunk_endpoint: str) -> str:
    """Take the endpoint's own name out of how a number is dialled through it."""
    _, _, way = trunk_endpoint.partition("/")
    return way.partition("/")[0] if "/" in way else way.rpartition("@")[2]
