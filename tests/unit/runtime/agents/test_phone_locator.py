"""The node at which a phone is registered, and what another node dials to reach it."""

import asyncio

import msgspec

from engine.ari.request import LOST, OnReply, Reply, Request
from engine.runtime.agents import phone_locator
from engine.runtime.agents.phone_locator import AgentNodes, NodeAgents, PhoneLocator
from engine.runtime.agents.phone_logins import PhoneLogins
from engine.runtime.base.interfaces import AgentPhone, OnAgentFound
from tests.harness.until import until
from tests.harness.virtual_time import virtual_time
from wire.agents import PhoneKind

PHONE = "PJSIP/1001"
AT_HOME = "PJSIP/1001/1001~"


class FakeNode:
    """A node whose phones are set by the test; `None` never answers."""

    def __init__(self, *phones: str, address: str = "10.0.0.1:5060") -> None:
        self.phones: tuple[str, ...] | None = phones
        self.sip_address = address
        self.pbx = self
        self.keeps_order = True
        self.requests: list[str] = []

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Answer a query of one endpoint."""
        assert (key, may_block) == (PHONE, False)
        self.requests.append(request.path)
        if self.phones is not None:
            asyncio.get_running_loop().call_soon(done, self._reply(request.path))

    async def ask(self, request: Request) -> Reply:
        """Refuse: dials use the websockets."""
        raise AssertionError(request)

    def _reply(self, path: str) -> Reply:
        name = path.removeprefix("endpoints/PJSIP/")
        state = "online" if name in (self.phones or ()) else "offline"
        shown = {"technology": "PJSIP", "resource": name, "state": state, "channel_ids": []}
        return Reply(200, msgspec.json.encode(shown))


class BrokenNode(FakeNode):
    """A node with another reply than an endpoint."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self._broken = reply

    def _reply(self, path: str) -> Reply:
        assert path
        return self._broken


class FixedAgents:
    """Every agent has one endpoint, or none."""

    def __init__(self, endpoint: str | None, kind: PhoneKind = "sip") -> None:
        self._endpoint = endpoint
        self._kind: PhoneKind = kind

    def resolve(self, account: str, agent_id: str, done: OnAgentFound) -> None:
        """Resolve at once."""
        assert (account, agent_id) == ("acme", "ada")
        done(AgentPhone(self._endpoint, "Ada", self._kind) if self._endpoint else None)


async def dialled(
    nodes: dict[str, FakeNode],
    endpoint: str | None = PHONE,
    logged_in: tuple[str, ...] = (),
    kind: PhoneKind = "sip",
) -> str | None:
    """Return what pbx1 dials to reach agent ada, who keeps her name."""
    logins = PhoneLogins()
    for node in logged_in:
        logins.listener(node)("1001")
    found: asyncio.Future[AgentPhone | None] = asyncio.get_running_loop().create_future()
    NodeAgents("pbx1", FixedAgents(endpoint, kind), PhoneLocator(nodes, logins)).resolve(
        "acme", "ada", found.set_result
    )
    phone = await found
    assert phone is None or phone.name == "Ada"
    return phone.endpoint if phone else None


async def test_a_phone_of_the_own_node_is_dialled_there() -> None:
    """No request goes to another node, even if the phone is registered there as well."""
    other = FakeNode("1001")
    assert await dialled({"pbx1": FakeNode("1001"), "pbx2": other}) == AT_HOME
    assert other.requests == []


async def test_a_phone_in_a_browser_is_called_by_the_dialplan() -> None:
    """It rings in all tabs, at its own node; at another node that node's dialplan does it."""
    nodes = {"pbx1": FakeNode("1001"), "pbx2": FakeNode(address="10.0.0.2:5060")}
    assert await dialled(nodes, kind="browser") == "Local/1001@browser-phone/n"
    nodes = {"pbx1": FakeNode(), "pbx2": FakeNode("1001", address="10.0.0.2:5060")}
    assert await dialled(nodes, kind="browser") == "PJSIP/peers/sip:1001@10.0.0.2:5060"


async def test_a_phone_that_has_moved_is_dialled_where_it_logged_in_last() -> None:
    """Its old registration may still be there; if the new one has ended, the old one is used."""
    nodes = {"pbx1": FakeNode("1001"), "pbx2": FakeNode("1001", address="10.0.0.2:5060")}
    moved = "PJSIP/peers/sip:1001@10.0.0.2:5060"
    assert await dialled(nodes, logged_in=("pbx1", "pbx2")) == moved
    assert await dialled(nodes, logged_in=("pbx2", "pbx1")) == AT_HOME
    assert await dialled(nodes, logged_in=("pbx3",)) == AT_HOME
    nodes["pbx2"].phones = ()
    assert await dialled(nodes, logged_in=("pbx2",)) == AT_HOME
    others = {f"pbx{n}": FakeNode("1001", address=f"10.0.0.{n}:5060") for n in (2, 3)}
    last = "PJSIP/peers/sip:1001@10.0.0.3:5060"
    assert await dialled({"pbx1": FakeNode(), **others}, logged_in=("pbx2", "pbx3")) == last


async def test_a_phone_that_is_registered_nowhere_is_dialled_at_home() -> None:
    """That fails at once, as always; an unknown agent has no endpoint."""
    nodes = {"pbx1": FakeNode(), "pbx2": FakeNode(), "pbx3": BrokenNode(Reply(404))}
    assert await dialled(nodes) == AT_HOME
    assert await dialled(nodes, None) is None
    assert await dialled({}) == AT_HOME


@virtual_time
async def test_a_silent_node_does_not_delay_the_others_answer() -> None:
    """The first node that has the phone is dialled over the trunk between them."""
    silent = FakeNode()
    silent.phones = None
    nodes = {"pbx1": FakeNode(), "pbx2": silent, "pbx3": FakeNode("1001", address="10.0.0.3:5062")}
    assert await dialled(nodes) == "PJSIP/peers/sip:1001@10.0.0.3:5062"
    assert asyncio.get_running_loop().time() < phone_locator.QUERY_TIMEOUT_S


@virtual_time
async def test_nodes_without_a_readable_answer_have_no_phone() -> None:
    """A lost reply, an invalid one, and none within the timeout."""
    silent = FakeNode()
    silent.phones = None
    nodes = {
        "pbx1": BrokenNode(LOST),
        "pbx2": BrokenNode(Reply(200, b"[]")),
        "pbx3": silent,
        "pbx4": FakeNode("1001"),
    }
    logins = PhoneLogins()
    agents = AgentNodes(FixedAgents(PHONE), PhoneLocator(nodes, logins))
    assert await agents.nodes_of("acme", "ada") == {"pbx4"}
    nodes["pbx5"] = FakeNode("1001")
    assert await agents.nodes_of("acme", "ada") == {"pbx4", "pbx5"}
    logins.listener("pbx5")("1001")
    assert await agents.nodes_of("acme", "ada") == {"pbx5"}


async def test_an_unknown_agent_is_at_no_node() -> None:
    """Its call is placed like any other, and fails there."""
    agents = AgentNodes(FixedAgents(None), PhoneLocator({"pbx1": FakeNode("1001")}, PhoneLogins()))
    assert await agents.nodes_of("acme", "ada") == frozenset()


async def test_close_cancels_pending_queries() -> None:
    """The recovery of the call repeats them."""
    silent = FakeNode()
    silent.phones = None
    locator = PhoneLocator({"pbx1": silent}, PhoneLogins())
    found: list[str] = []
    locator.resolve("pbx1", PHONE, found.append)
    await until(lambda: bool(silent.requests), what="the query")
    await locator.close()
    assert found == []
