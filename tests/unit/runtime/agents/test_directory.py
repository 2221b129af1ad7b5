"""The directory: where an agent is called, and who calls from an endpoint."""

import asyncio

import msgspec
import pytest

from engine.runtime.agents.directory import Caller, Directory
from engine.runtime.base.ttl_cache import MAX_ENTRIES
from engine.store.errors import StoreDown
from engine.store.memory.store import MemoryStore
from tests.unit.runtime.harness.shard_bench import ManualClock
from wire.agents import Agent


class MoodyStore(MemoryStore):
    """The memory store, which counts reads of agents and can be out of reach."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.down = False

    async def agent(self, account: str, agent_id: str) -> bytes | None:
        """Read, unless down."""
        self._count()
        return await super().agent(account, agent_id)

    async def agents(self, account: str) -> dict[str, bytes]:
        """Read, unless down."""
        self._count()
        return await super().agents(account)

    def _count(self) -> None:
        self.reads += 1
        if self.down:
            raise StoreDown("in a bad mood")


class Bench:
    """A directory over a store, on a clock moved by hand."""

    def __init__(self, template: str = "PJSIP/{agent_id}") -> None:
        self.store, self.clock = MoodyStore(), ManualClock()
        trunk = "PJSIP/{number}@trunk"
        self.directory = Directory(self.store, self.clock.now_ms, template, trunk)

    async def put(self, agent_id: str, agent: Agent) -> None:
        """Store an agent of acme."""
        await self.store.put_agent("acme", agent_id, msgspec.json.encode(agent))

    async def find(self, agent_id: str, account: str = "acme") -> str | None:
        """Resolve an agent."""
        found: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self.directory.resolve(account, agent_id, found.set_result)
        return await found

    def now(self, agent_id: str) -> str | None:
        """Resolve an agent without waiting."""
        found: list[str | None] = []
        self.directory.resolve("acme", agent_id, found.append)
        return found[0]


async def test_an_agent_is_where_its_account_says() -> None:
    """The account's document, or else the template; never another account's document."""
    bench = Bench()
    await bench.put("sales7", Agent("PJSIP/1002"))
    assert await bench.find("sales7") == "PJSIP/1002"
    assert await bench.find("sales7", "other") == "PJSIP/sales7"
    assert await bench.find("1001") == "PJSIP/1001"


async def test_what_was_found_is_remembered_for_a_second() -> None:
    """A busy agent costs one read a second, and a call to it waits for none; a change is seen."""
    bench = Bench()
    await bench.put("sales7", Agent("PJSIP/1002"))
    await bench.find("sales7")
    await bench.put("sales7", Agent("PJSIP/1003"))
    bench.clock.pass_ms(999)
    assert (bench.now("sales7"), bench.store.reads) == ("PJSIP/1002", 1)
    bench.clock.pass_ms(1)
    assert await bench.find("sales7") == "PJSIP/1003"


async def test_while_the_store_is_down_agents_are_called() -> None:
    """Where they were last, or else where the template says."""
    bench = Bench()
    await bench.put("sales7", Agent("PJSIP/1002"))
    await bench.find("sales7")
    bench.store.down = True
    bench.clock.pass_ms(5_000)
    assert await bench.find("sales7") == "PJSIP/1002"
    assert await bench.find("1001") == "PJSIP/1001"


async def test_a_document_that_can_not_be_read_is_none() -> None:
    """Calls go on by the template; what another version stored must hold up nobody."""
    bench = Bench()
    await bench.store.put_agent("acme", "1001", b'{"endpoint":"PJSIP/7","new":1}')
    assert await bench.find("1001") == "PJSIP/1001"
    assert await bench.directory.agent_of("acme", "PJSIP/1001") == Caller("1001")


@pytest.mark.parametrize("agent_id", ["trunk", "Trunk"])
async def test_the_trunk_is_no_agent(agent_id: str) -> None:
    """No name and no document of an account leads to the trunk's own endpoint."""
    bench = Bench()
    await bench.put("sales7", Agent(f"PJSIP/{agent_id}"))
    assert await bench.find(agent_id) is None
    assert await bench.find("sales7") is None


@pytest.mark.parametrize(
    "trunk", ["PJSIP/{number}@carrier", "PJSIP/carrier/sip:{number}@10.0.0.1:5060"]
)
def test_the_trunk_is_known_by_how_numbers_are_dialled(trunk: str) -> None:
    """Both ways of writing it name the endpoint."""
    directory = Directory(MemoryStore(), ManualClock().now_ms, "PJSIP/{agent_id}", trunk)
    assert directory.is_trunk("PJSIP/carrier")
    assert not directory.is_trunk("PJSIP/trunk")


async def test_who_calls_from_an_endpoint() -> None:
    """The agent that the account put there, the lowest of several, or whom the template puts."""
    bench = Bench()
    await bench.put("sales8", Agent("PJSIP/1002"))
    await bench.put("sales7", Agent("PJSIP/1002", "Ada", "+4721930000"))
    await bench.put("1003", Agent("PJSIP/1004"))
    who = bench.directory.agent_of
    assert await who("acme", "PJSIP/1002") == Caller("sales7", "+4721930000")
    assert await who("other", "PJSIP/1002") == Caller("1002")
    assert await who("acme", "PJSIP/1003") == Caller()
    assert await who("acme", "IAX2/1001") == Caller()


async def test_the_trunks_calls_cost_no_read() -> None:
    """Nobody is looked for behind the trunk."""
    bench = Bench()
    assert await bench.directory.agent_of("acme", "PJSIP/trunk") == Caller()
    assert await bench.directory.agent_of("acme", "") == Caller()
    assert bench.store.reads == 0


async def test_who_calls_is_remembered_for_a_moment() -> None:
    """A number that is called often by agents costs one read a second, and then no wait."""
    bench = Bench()
    await bench.put("sales7", Agent("PJSIP/1002"))
    now = bench.directory.known_caller
    assert (now("acme", "PJSIP/1002"), now("acme", "PJSIP/trunk")) == (None, Caller())
    await bench.directory.agent_of("acme", "PJSIP/1002")
    assert await bench.directory.agent_of("acme", "PJSIP/1003") == Caller("1003")
    assert (now("acme", "PJSIP/1002"), bench.store.reads) == (Caller("sales7"), 1)
    bench.clock.pass_ms(1_000)
    assert now("acme", "PJSIP/1002") is None


async def test_while_the_store_is_down_the_template_tells_who_calls() -> None:
    """A call is taken in all the same."""
    bench = Bench("PJSIP/acme-{agent_id}")
    bench.store.down = True
    assert await bench.directory.agent_of("acme", "PJSIP/acme-7") == Caller("7")
    assert await bench.directory.agent_of("acme", "PJSIP/7") == Caller()


async def test_the_directory_has_a_bound() -> None:
    """Customers choose whom they call: what is remembered is limited."""
    bench = Bench()
    await asyncio.gather(*(bench.find(f"a{number}") for number in range(MAX_ENTRIES + 50)))
    reads = bench.store.reads
    await asyncio.gather(*(bench.find(f"a{number}") for number in range(MAX_ENTRIES + 50)))
    assert bench.store.reads - reads >= MAX_ENTRIES - 50


async def test_closing_leaves_what_is_being_read() -> None:
    """Nothing is told after the end."""
    bench = Bench()
    found: list[str | None] = []
    bench.directory.resolve("acme", "1001", found.append)
    await bench.directory.close()
    assert found == []
