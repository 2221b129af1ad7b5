"""H6: a phone belongs to one account; others neither ring it nor are called by it."""

import asyncio

import pytest
from pydantic import ValidationError

from engine.runtime.agents.account_agents import Caller
from engine.runtime.agents.agent_template import AgentTemplate
from engine.runtime.agents.directory import Directory
from engine.runtime.base.interfaces import AgentPhone
from tests.harness.memory_store.store import MemoryStore
from tests.harness.rpc.scene import RpcScene
from tests.harness.settings import read_settings

PHONE = {"endpoint": "PJSIP/1002", "name": "Ada"}
TRUNK = "PJSIP/{number}@trunk"


async def find(directory: Directory, account: str, agent_id: str) -> AgentPhone | None:
    """Resolve an agent."""
    found: asyncio.Future[AgentPhone | None] = asyncio.get_running_loop().create_future()
    directory.resolve(account, agent_id, found.set_result)
    return await found


def directory_of(template: AgentTemplate, store: MemoryStore | None = None) -> Directory:
    """Return a directory over an empty store."""
    return Directory(store or MemoryStore(), lambda: 0, template, (TRUNK,))


async def test_the_template_is_of_one_account() -> None:
    """Another account has no phones, and calls from them are not its agents' calls."""
    directory = directory_of(AgentTemplate("PJSIP/{agent_id}", "acme"))
    assert await find(directory, "acme", "1001") == AgentPhone("PJSIP/1001")
    assert await find(directory, "other", "1001") is None
    assert await find(directory, "other", "carrier2") is None
    assert await directory.agent_of("acme", "PJSIP/1001") == Caller("1001")
    assert await directory.agent_of("other", "PJSIP/1001") == Caller()


async def test_without_an_account_no_template_is_used() -> None:
    """Then each agent needs a document."""
    assert await find(directory_of(AgentTemplate("PJSIP/{agent_id}")), "acme", "1001") is None


async def test_a_template_with_the_account() -> None:
    """Each account has its own endpoints."""
    directory = directory_of(AgentTemplate("PJSIP/{account}.{agent_id}"))
    assert await find(directory, "other", "1001") == AgentPhone("PJSIP/other.1001")
    assert await directory.agent_of("other", "PJSIP/other.1001") == Caller("1001")
    assert await directory.agent_of("acme", "PJSIP/other.1001") == Caller()


@pytest.mark.parametrize(
    "template", ["PJSIP/{account}-{agent_id}", "PJSIP/{account}{agent_id}", "PJSIP/1001"]
)
def test_a_template_under_which_accounts_share_phones(template: str) -> None:
    """Names may contain a hyphen: a-b and c, or a and b-c, would be the same."""
    with pytest.raises(ValidationError, match="agent_endpoint"):
        read_settings({"agent_endpoint": template})


async def test_an_endpoint_of_another_account_is_not_the_templates() -> None:
    """Its document decides."""
    store = MemoryStore()
    directory = directory_of(AgentTemplate("PJSIP/{agent_id}", "acme"), store)
    await store.phones.claim("PJSIP/1002", "other")
    assert await find(directory, "acme", "1002") is None
    assert await directory.agent_of("acme", "PJSIP/1002") == Caller()


async def test_one_endpoint_belongs_to_one_account(scene: RpcScene) -> None:
    """A second account may have it when no agent of the first has it any more."""
    assert (await scene.request("PUT", "/agents/acme/a", PHONE))[0] == 200
    assert (await scene.request("PUT", "/agents/acme/b", PHONE))[0] == 200
    taken = (409, "endpoint_taken")
    assert await scene.problem("PUT", "/agents/other/a", PHONE) == taken
    assert (await scene.request("DELETE", "/agents/acme/a"))[0] == 200
    assert await scene.problem("PUT", "/agents/other/a", PHONE) == taken
    moved = {**PHONE, "endpoint": "PJSIP/1003"}
    assert (await scene.request("PUT", "/agents/acme/b", moved))[0] == 200
    assert (await scene.request("PUT", "/agents/other/a", PHONE))[0] == 200
