"""The directory of agents: the endpoint of an agent, and the agent of an endpoint."""

from collections.abc import Callable

import msgspec
import structlog
from msgspec import Struct

from engine.common.tasks import BackgroundTasks
from engine.common.ttl_cache import DEFAULT_TTL_MS, TtlCache
from engine.runtime.agents.agent_template import AgentTemplate
from engine.runtime.base.interfaces import AgentPhone, OnAgentFound
from engine.runtime.pbx.trunks import trunk_name
from engine.store.errors import StoreDown
from engine.store.store import Store
from wire.agents import Agent

log = structlog.get_logger()
PEER_TRUNK = "PJSIP/peers"  # the endpoint through which each node calls the phones of the others
MAX_ACCOUNTS = 1_000


class Caller(Struct, frozen=True):
    """The agent that calls from an endpoint, with its caller id and name; empty: no agent."""

    agent_id: str = ""
    caller_id: str = ""
    name: str = ""


class Callers(Struct, frozen=True):
    """An account's agents by endpoint, and the ids of all agents that have a document.

    `foreign` are the endpoints that belong to other accounts.
    """

    by_endpoint: dict[str, Caller] = {}
    ids: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()


class Directory:
    """Finds endpoints by the accounts' documents, or else by the template, if they may use it.

    An endpoint of one account's document is no other account's agent.

    Results are cached for a moment: a busy agent causes one read a second.
    """

    def __init__(
        self,
        store: Store,
        now_ms: Callable[[], int],
        template: AgentTemplate,
        trunk_endpoints: tuple[str, ...],
        ttl_ms: int = DEFAULT_TTL_MS,
    ) -> None:
        self._store = store
        self._template = template
        trunks = (f"{each.partition('/')[0]}/{trunk_name(each)}" for each in trunk_endpoints)
        self._trunks = {each.casefold() for each in (*trunks, PEER_TRUNK)}
        self._phones = TtlCache(self._read_phone, now_ms, ttl_ms)
        self._callers = TtlCache(self._read_callers, now_ms, ttl_ms, MAX_ACCOUNTS)
        self._tasks = BackgroundTasks()

    def resolve(self, account: str, agent_id: str, done: OnAgentFound) -> None:
        """Pass an agent's phone to `done`, at once if it is cached; None: there is none.

        An agent without a document has the endpoint of the template. While the store is down, the
        last phone read applies, or else the template. The trunk is not an agent's endpoint.
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
        return self._caller(account, cached.value, endpoint) if cached else None

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
        return self._caller(account, callers, endpoint)

    def default(self, account: str, agent_id: str) -> str | None:
        """Return the endpoint of an agent without a document, if the account has a template."""
        return self._template.endpoint(account, agent_id)

    def has_document(self, account: str, agent_id: str) -> bool:
        """Return whether an agent had a document when the account's agents were last read."""
        callers = self._callers.get_stale(account)
        return callers is not None and agent_id in callers.value.ids

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
            done(last.value if last else self._phone(None, self.default(account, agent_id)))

    async def _read_phone(self, key: tuple[str, str]) -> AgentPhone | None:
        account, agent_id = key
        body = await self._store.agent(account, agent_id)
        agent = msgspec.json.decode(body, type=Agent) if body else None
        default = self.default(account, agent_id)
        if agent is None and default is not None:
            owner = await self._store.endpoint_owner(default)
            default = default if owner in {None, account} else None
        return self._phone(agent, default)

    def _phone(self, agent: Agent | None, default: str | None) -> AgentPhone | None:
        """Return the phone of a document, or else the template's; None: there is none."""
        endpoint = agent.endpoint if agent else default
        if endpoint is None or self.is_trunk(endpoint):
            return None
        return AgentPhone(endpoint, agent.name if agent else "")

    async def _read_callers(self, account: str) -> Callers:
        bodies = await self._store.agents(account)
        found = {name: msgspec.json.decode(body, type=Agent) for name, body in bodies.items()}
        by_endpoint: dict[str, Caller] = {}
        for agent_id, agent in sorted(found.items()):
            caller = Caller(agent_id, agent.caller_id or "", agent.name)
            by_endpoint.setdefault(agent.endpoint, caller)
        return Callers(by_endpoint, frozenset(found), await self._foreign_endpoints(account))

    async def _foreign_endpoints(self, account: str) -> frozenset[str]:
        """Return the endpoints of other accounts that the template may stand for."""
        if self.default(account, "") is None:
            return frozenset()
        owners = await self._store.endpoint_owners()
        return frozenset(endpoint for endpoint, owner in owners.items() if owner != account)

    def _caller(self, account: str, callers: Callers, endpoint: str) -> Caller:
        if caller := callers.by_endpoint.get(endpoint):
            return caller
        agent_id = self._template.agent_id(account, endpoint)
        is_other = agent_id in callers.ids or endpoint in callers.foreign
        return Caller() if is_other else Caller(agent_id)
