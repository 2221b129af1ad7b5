"""The directory of agents: the endpoint of an agent, and the agent of an endpoint."""

import re
from collections.abc import Callable

import msgspec
import structlog
from msgspec import Struct

from engine.common.tasks import BackgroundTasks
from engine.common.ttl_cache import DEFAULT_TTL_MS, TtlCache
from engine.runtime.base.interfaces import AgentPhone, OnAgentFound
from engine.store.errors import StoreDown
from engine.store.store import Store
from wire.agents import Agent
from wire.decoding.patterns import NAME

log = structlog.get_logger()
PEER_TRUNK = "PJSIP/peers"  # the endpoint through which each node calls the phones of the others
MAX_ACCOUNTS = 1_000


class Caller(Struct, frozen=True):
    """The agent that calls from an endpoint, with its caller id and name; empty: no agent."""

    agent_id: str = ""
    caller_id: str = ""
    name: str = ""


class Callers(Struct, frozen=True):
    """An account's agents by endpoint, and the ids of all agents that have a document."""

    by_endpoint: dict[str, Caller] = {}
    ids: frozenset[str] = frozenset()


class Directory:
    """Finds endpoints by the accounts' documents, or else by the settings' template.

    Results are cached for a moment: a busy agent causes one read a second.
    """

    def __init__(
        self,
        store: Store,
        now_ms: Callable[[], int],
        agent_endpoint: str,
        trunk_endpoint: str,
        ttl_ms: int = DEFAULT_TTL_MS,
    ) -> None:
        self._store = store
        self._template = agent_endpoint
        trunk = f"{trunk_endpoint.partition('/')[0]}/{trunk_name(trunk_endpoint)}"
        self._trunks = {trunk.casefold(), PEER_TRUNK.casefold()}
        self._phones = TtlCache(self._read_phone, now_ms, ttl_ms)
        self._callers = TtlCache(self._read_callers, now_ms, ttl_ms, MAX_ACCOUNTS)
        self._tasks = BackgroundTasks()

    def resolve(self, account: str, agent_id: str, done: OnAgentFound) -> None:
        """Pass an agent's phone to `done`, at once if it is cached; None: there is none.

        An agent without a document has the endpoint of the template, and so has every agent while
        the store is down. The trunk is not an agent's endpoint.
        """
        if cached := self._phones.get_fresh((account, agent_id)):
            done(cached.value)
            return
        self._tasks.start(self._resolve(account, agent_id, done))

    def known_caller(self, account: str, endpoint: str) -> Caller | None:
        """Return the agent that calls from an endpoint; None: not cached, see `agent_of`."""
        if not endpoint or self.is_trunk(endpoint):
            return Caller()
        cached = self._callers.get_fresh(account)
        return self._caller(cached.value, endpoint) if cached else None

    async def agent_of(self, account: str, endpoint: str) -> Caller:
        """Return the agent of an account that calls from an endpoint."""
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
        """Return the endpoint of an agent without a document."""
        return self._template.format(agent_id=agent_id)

    def is_trunk(self, endpoint: str) -> bool:
        """Return whether an endpoint is a trunk's, also between nodes, and so no agent's."""
        return endpoint.casefold() in self._trunks

    async def close(self) -> None:
        """Cancel pending reads: recovery repeats them."""
        await self._tasks.close()

    async def _resolve(self, account: str, agent_id: str, done: OnAgentFound) -> None:
        key = (account, agent_id)
        try:
            done(await self._phones.get(key))
        except (StoreDown, msgspec.DecodeError) as error:
            log.warning("agent not read", account=account, agent_id=agent_id, error=str(error))
            last = self._phones.get_stale(key)
            default = AgentPhone(self.default(agent_id))
            done(last.value if last else self._unless_trunk(default, agent_id))

    async def _read_phone(self, key: tuple[str, str]) -> AgentPhone | None:
        account, agent_id = key
        body = await self._store.agent(account, agent_id)
        agent = msgspec.json.decode(body, type=Agent) if body else None
        default = AgentPhone(self.default(agent_id))
        phone = AgentPhone(agent.endpoint, agent.name) if agent else default
        return self._unless_trunk(phone, agent_id)

    def _unless_trunk(self, phone: AgentPhone, agent_id: str) -> AgentPhone | None:
        if self.is_trunk(phone.endpoint):
            log.warning("agent has the endpoint of the trunk", agent_id=agent_id)
            return None
        return phone

    async def _read_callers(self, account: str) -> Callers:
        bodies = await self._store.agents(account)
        found = {name: msgspec.json.decode(body, type=Agent) for name, body in bodies.items()}
        by_endpoint: dict[str, Caller] = {}
        for agent_id, agent in sorted(found.items()):
            caller = Caller(agent_id, agent.caller_id or "", agent.name)
            by_endpoint.setdefault(agent.endpoint, caller)
        return Callers(by_endpoint, frozenset(found))

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


def trunk_name(trunk_endpoint: str) -> str:
    """Return the trunk's endpoint name, as the dial string of a number contains it."""
    _, _, resource = trunk_endpoint.partition("/")
    return resource.partition("/")[0] if "/" in resource else resource.rpartition("@")[2]
