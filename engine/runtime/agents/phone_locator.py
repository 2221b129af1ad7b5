"""Finds the node at which a phone is registered, so that every node can call it.

A phone is called only where it has logged in from (`phone_addresses.py`). One of another node is
called over the trunk between the nodes (`peers` in `asterisk-config`), whose dialplan calls the
phone without an engine. A phone in a browser is called by the dialplan in any case: it rings in all
tabs, and an endpoint that ARI calls rings in one.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from base.tasks import BackgroundTasks, cancel_all
from engine.ari.generated.models import Endpoint
from engine.ari.generated.operations import endpoints
from engine.ari.request import Reply
from engine.runtime.agents.directory import PEER_TRUNK
from engine.runtime.agents.phone_addresses import called_at
from engine.runtime.agents.phone_logins import PhoneLogins
from engine.runtime.base.interfaces import AgentPhone, AgentResolver, OnAgentFound, Pbx
from wire.agents import phone_name

QUERY_TIMEOUT_S = 1.0
BROWSER_CONTEXT = "browser-phone"  # of the dialplan
_decoder = msgspec.json.Decoder(Endpoint)


class PhoneNode(Protocol):
    """A node that phones may be registered at; `engine.runtime.pbx_nodes.node` implements it."""

    @property
    def pbx(self) -> Pbx:
        """Its connection."""

    @property
    def sip_address(self) -> str:
        """Where other nodes call its phones: host:port."""


class PhoneLocator:
    """Asks the nodes where an endpoint is registered.

    First that of its last login: a phone that has moved may still be registered elsewhere, without
    answering there. Then the node that calls it.
    """

    def __init__(self, nodes: Mapping[str, PhoneNode], logins: PhoneLogins) -> None:
        self._nodes = nodes
        self._logins = logins
        self._tasks = BackgroundTasks()

    async def nodes_of(self, endpoint: str) -> frozenset[str]:
        """Return the names of nodes at which an endpoint is registered.

        If it is registered at the node of its last login, no other node is asked.
        """
        nodes = dict(self._nodes)
        last = self._logins.node_of(endpoint)
        if last in nodes and await _is_registered(nodes[last].pbx, endpoint):
            return frozenset({last})
        queries = (_registered_at(name, node.pbx, endpoint) for name, node in nodes.items())
        return frozenset(await asyncio.gather(*queries)) - {""}

    def resolve(self, home: str, endpoint: str, done: Callable[[str], None]) -> None:
        """Pass to `done` what node `home` dials to reach a phone.

        A phone that is registered nowhere is dialled at `home`, which fails at once.
        """
        self._tasks.start(self._resolve(home, endpoint, done))

    async def close(self) -> None:
        """Cancel pending queries: recovery repeats them."""
        await self._tasks.close()

    async def _resolve(self, home: str, endpoint: str, done: Callable[[str], None]) -> None:
        done(await self._dial_string(home, endpoint))

    async def _dial_string(self, home: str, endpoint: str) -> str:
        nodes = dict(self._nodes)
        own = nodes.pop(home, None)
        if own is None:
            return endpoint
        last = {name: nodes[name] for name in (self._logins.node_of(endpoint),) if name in nodes}
        found = await _first_registered(last, endpoint)
        if found is None and await _is_registered(own.pbx, endpoint):
            return endpoint
        found = found or await _first_registered(nodes, endpoint)
        if found is None:
            return endpoint
        phone = endpoint.partition("/")[2]
        return f"{PEER_TRUNK}/sip:{phone}@{nodes[found].sip_address}"


class NodeAgents(Struct, frozen=True):
    """The agents as one node dials them; implements `AgentResolver`."""

    home: str
    agents: AgentResolver
    phones: PhoneLocator

    def resolve(self, account: str, agent_id: str, done: OnAgentFound) -> None:
        """Pass to `done` what the node dials to reach an agent; None: unknown agent."""

        def found(phone: AgentPhone | None) -> None:
            if phone is None:
                done(None)
                return
            given = phone

            def located(dialed: str) -> None:
                if dialed == given.endpoint:
                    is_browser = given.kind == "browser"
                    dialed = _by_dialplan(dialed) if is_browser else called_at(dialed)
                done(replace(given, endpoint=dialed))

            self.phones.resolve(self.home, given.endpoint, located)

        self.agents.resolve(account, agent_id, found)


class AgentNodes(Struct, frozen=True):
    """Finds the nodes at which agents' phones are registered."""

    agents: AgentResolver
    phones: PhoneLocator

    async def nodes_of(self, account: str, agent_id: str) -> frozenset[str]:
        """Return the names of the nodes at which an agent's phone is registered."""
        resolved: asyncio.Future[AgentPhone | None] = asyncio.get_running_loop().create_future()

        def found(phone: AgentPhone | None) -> None:
            if not resolved.done():
                resolved.set_result(phone)

        self.agents.resolve(account, agent_id, found)
        phone = await resolved
        return frozenset() if phone is None else await self.phones.nodes_of(phone.endpoint)


def _by_dialplan(endpoint: str) -> str:
    """Return the channel whose other half calls all tabs of a phone; each half stays (`n`)."""
    return f"Local/{phone_name(endpoint)}@{BROWSER_CONTEXT}/n"


async def _first_registered(nodes: Mapping[str, PhoneNode], endpoint: str) -> str | None:
    """Return the first node that answers that an endpoint is registered at it."""
    queries = [
        asyncio.ensure_future(_registered_at(name, node.pbx, endpoint))
        for name, node in nodes.items()
    ]
    try:
        for query in asyncio.as_completed(queries):
            if name := await query:
                return name
        return None
    finally:
        await cancel_all(queries)


async def _registered_at(name: str, pbx: Pbx, endpoint: str) -> str:
    return name if await _is_registered(pbx, endpoint) else ""


async def _is_registered(pbx: Pbx, endpoint: str) -> bool:
    """Return whether an endpoint is registered; a node without an answer has no phone."""
    technology, _, resource = endpoint.partition("/")
    reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

    def settle(received: Reply) -> None:
        if not reply.done():
            reply.set_result(received)

    pbx.send(endpoints.get(technology, resource), endpoint, False, settle)
    try:
        async with asyncio.timeout(QUERY_TIMEOUT_S):
            received = await reply
        return received.ok and _decoder.decode(received.body).state == "online"
    except (TimeoutError, msgspec.DecodeError):
        return False
