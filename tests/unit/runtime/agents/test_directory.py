"""The directory: where an agent is called, and who calls from an endpoint."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from base.ttl_cache import MAX_ENTRIES
from engine.runtime.agents.account_agents import REREAD_INTERVAL_MS, Caller
from engine.runtime.agents.directory import AgentTemplate, Directory
from engine.runtime.base.interfaces import AgentPhone
from engine.store.errors import StoreDown
from engine.store.store import MAX_CHANGES
from tests.harness.memory_store.store import MemoryStore
from tests.harness.runtime.shard_scene import ManualClock
from tests.harness.store.documents import put_agent
from wire.agents import Agent


class UnreliableStore(MemoryStore):
    """A memory store that counts reads of agents and can be down."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.documents_read = 0
        self.down = False

    async def agent(self, account: str, agent_id: str) -> bytes | None:
        self._count()
        self.documents_read += 1
        return await super().agent(account, agent_id)

    async def agents(self, account: str, ids: Sequence[str] | None = None) -> dict[str, bytes]:
        self._count()
        found = await super().agents(account, ids)
        self.documents_read += len(found)
        return found

    async def agent_changes(self, account: str, after: str) -> tuple[list[str], str]:
        if self.down:
            raise StoreDown("set by the test")
        return await super().agent_changes(account, after)

    def forget_changes(self) -> None:
        """Lose the notices of changes."""
        self.documents.agent_changes.clear()

    def _count(self) -> None:
        self.reads += 1
        if self.down:
            raise StoreDown("set by the test")


class Scene:
    """A directory over a store, with a clock moved by the test."""

    def __init__(self, template: str = "PJSIP/{agent_id}") -> None:
        self.store, self.clock = UnreliableStore(), ManualClock()
        trunk = "PJSIP/{number}@trunk"
        self.directory = Directory(
            self.store, self.clock.now_ms, AgentTemplate(template, "acme"), (trunk,)
        )

    async def put(self, agent_id: str, agent: Agent) -> None:
        """Store an agent of acme."""
        await put_agent(self.store, "acme", agent_id, msgspec.json.encode(agent))

    async def find(self, agent_id: str, account: str = "acme") -> str | None:
        """Return an agent's endpoint."""
        phone = await self.phone(agent_id, account)
        return phone.endpoint if phone else None

    async def phone(self, agent_id: str, account: str = "acme") -> AgentPhone | None:
        """Resolve an agent."""
        found: asyncio.Future[AgentPhone | None] = asyncio.get_running_loop().create_future()
        self.directory.resolve(account, agent_id, found.set_result)
        return await found

    def now(self, agent_id: str) -> str | None:
        """Return an agent's endpoint without waiting."""
        found: list[AgentPhone | None] = []
        self.directory.resolve("acme", agent_id, found.append)
        return found[0].endpoint if found[0] else None


async def test_endpoints_are_cached_for_a_second() -> None:
    """A busy agent causes one read a second; then a change is seen."""
    scene = Scene()
    await scene.put("sales7", Agent("PJSIP/1002"))
    await scene.find("sales7")
    await scene.put("sales7", Agent("PJSIP/1003"))
    scene.clock.pass_ms(999)
    assert (scene.now("sales7"), scene.store.reads) == ("PJSIP/1002", 1)
    scene.clock.pass_ms(1)
    assert await scene.find("sales7") == "PJSIP/1003"


async def test_endpoints_while_the_store_is_down() -> None:
    """They are the last ones read, or else the template's."""
    scene = Scene()
    await scene.put("sales7", Agent("PJSIP/1002"))
    await scene.find("sales7")
    scene.store.down = True
    scene.clock.pass_ms(5_000)
    assert await scene.find("sales7") == "PJSIP/1002"
    assert await scene.find("1001") == "PJSIP/1001"


async def test_an_invalid_document_is_ignored() -> None:
    """The template is used: a document of another version must not stop calls."""
    scene = Scene()
    await put_agent(scene.store, "acme", "1001", b'{"endpoint":["PJSIP/7"]}')
    assert await scene.find("1001") == "PJSIP/1001"
    assert await scene.directory.agent_of("acme", "PJSIP/1001") == Caller("1001")


async def test_a_document_of_a_later_version_is_read() -> None:
    """Without the field that this version does not know."""
    scene = Scene()
    await put_agent(scene.store, "acme", "1001", b'{"endpoint":"PJSIP/7","new":1}')
    assert await scene.find("1001") == "PJSIP/7"


@pytest.mark.parametrize("agent_id", ["trunk", "Trunk"])
async def test_the_trunk_is_not_an_agent(agent_id: str) -> None:
    """Neither an agent's id nor a document resolves to the trunk's endpoint."""
    scene = Scene()
    await scene.put("sales7", Agent(f"PJSIP/{agent_id}"))
    assert await scene.find(agent_id) is None
    assert await scene.find("sales7") is None


@pytest.mark.parametrize(
    "trunk", ["PJSIP/{number}@carrier", "PJSIP/carrier/sip:{number}@10.0.0.1:5060"]
)
def test_the_trunks_endpoint(trunk: str) -> None:
    """Both forms of a dial string contain it."""
    directory = Directory(
        MemoryStore(), ManualClock().now_ms, AgentTemplate("PJSIP/{agent_id}", "acme"), (trunk,)
    )
    assert directory.is_trunk("PJSIP/carrier")
    assert not directory.is_trunk("PJSIP/trunk")


async def test_the_agent_of_an_endpoint() -> None:
    """It is the one in the account's documents, the lowest of several, or the template's."""
    scene = Scene()
    await scene.put("sales8", Agent("PJSIP/1002"))
    await scene.put("sales7", Agent("PJSIP/1002", "Ada", "+4721930000"))
    await scene.put("1003", Agent("PJSIP/1004"))
    agent_of = scene.directory.agent_of
    assert await agent_of("acme", "PJSIP/1002") == Caller("sales7", "+4721930000", "Ada")
    assert await agent_of("other", "PJSIP/1002") == Caller(is_foreign=True)
    assert await agent_of("acme", "PJSIP/1003") == Caller()
    assert await agent_of("acme", "IAX2/1001") == Caller()


async def test_calls_of_the_trunk_cause_no_read() -> None:
    """No agent calls from the trunk."""
    scene = Scene()
    assert await scene.directory.agent_of("acme", "PJSIP/trunk") == Caller()
    assert await scene.directory.agent_of("acme", "") == Caller()
    assert scene.store.reads == 0


async def test_callers_are_cached_for_a_second() -> None:
    """Frequent calls by agents cause one read a second."""
    scene = Scene()
    await scene.put("sales7", Agent("PJSIP/1002"))
    now = scene.directory.known_caller
    assert (now("acme", "PJSIP/1002"), now("acme", "PJSIP/trunk")) == (None, Caller())
    await scene.directory.agent_of("acme", "PJSIP/1002")
    assert await scene.directory.agent_of("acme", "PJSIP/1003") == Caller("1003")
    assert (now("acme", "PJSIP/1002"), scene.store.reads) == (Caller("sales7"), 1)
    scene.clock.pass_ms(1_000)
    assert now("acme", "PJSIP/1002") is None


async def test_only_changes_are_read_again() -> None:
    """A lookup among 10,000 agents reads and decodes those that have changed since the last."""
    scene = Scene()
    for number in range(10_000):
        await scene.put(f"a{number}", Agent(f"PJSIP/{number}"))
    agent_of = scene.directory.agent_of
    assert await agent_of("acme", "PJSIP/77") == Caller("a77")
    scene.store.documents_read = 0
    await scene.put("a77", Agent("PJSIP/moved"))
    await put_agent(scene.store, "acme", "a78", None)
    for _ in range(100):
        scene.clock.pass_ms(1_000)
        assert await agent_of("acme", "PJSIP/moved") == Caller("a77")
    assert await agent_of("acme", "PJSIP/78") == Caller("78")  # by the template
    documented = [scene.directory.has_document("acme", each) for each in ("a77", "a78")]
    assert documented == [True, False]
    assert scene.store.documents_read == 2


async def test_all_agents_are_read_again_at_times() -> None:
    """A change that was stored without a notice is found within an hour."""
    scene = Scene()
    await scene.put("sales7", Agent("PJSIP/1002"))
    await scene.directory.agent_of("acme", "PJSIP/1002")
    scene.store.forget_changes()
    await scene.put("sales7", Agent("PJSIP/1003"))
    scene.store.forget_changes()
    scene.clock.pass_ms(REREAD_INTERVAL_MS)
    assert await scene.directory.agent_of("acme", "PJSIP/1003") == Caller("sales7")


async def test_more_changes_than_one_answer_holds() -> None:
    """All agents are read again."""
    scene = Scene()
    await scene.directory.agent_of("acme", "PJSIP/1")
    for number in range(MAX_CHANGES + 5):
        await scene.put(f"a{number}", Agent(f"PJSIP/{number}"))
    scene.clock.pass_ms(1_000)
    last = MAX_CHANGES + 4
    assert await scene.directory.agent_of("acme", f"PJSIP/{last}") == Caller(f"a{last}")


async def test_callers_while_the_store_is_down() -> None:
    """The template is used, so that calls are admitted."""
    scene = Scene("PJSIP/acme-{agent_id}")
    scene.store.down = True
    assert await scene.directory.agent_of("acme", "PJSIP/acme-7") == Caller("7")
    assert await scene.directory.agent_of("acme", "PJSIP/7") == Caller(is_foreign=True)


async def test_the_cache_is_bounded() -> None:
    """Customers choose the agents they call, so the cache is limited."""
    scene = Scene()
    await asyncio.gather(*(scene.find(f"a{number}") for number in range(MAX_ENTRIES + 50)))
    reads = scene.store.reads
    await asyncio.gather(*(scene.find(f"a{number}") for number in range(50)))
    assert scene.store.reads - reads == 50


async def test_an_agent_has_the_name_of_its_document() -> None:
    """The agent is called by its phone and reported by its name, also as a caller."""
    scene = Scene()
    await scene.put("1001", Agent("PJSIP/desk", name="Nina Berg"))
    assert await scene.phone("1001") == AgentPhone("PJSIP/desk", "Nina Berg")
    assert await scene.phone("1002") == AgentPhone("PJSIP/1002")
    assert (await scene.directory.agent_of("acme", "PJSIP/desk")).name == "Nina Berg"


async def test_closing_cancels_reads() -> None:
    """Nothing is resolved after the end."""
    scene = Scene()
    found: list[AgentPhone | None] = []
    scene.directory.resolve("acme", "1001", found.append)
    await scene.directory.close()
    assert found == []
