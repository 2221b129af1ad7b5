"""H6: a phone belongs to one account; others neither ring it nor are called by it."""

import asyncio
from functools import partial

import msgspec
import pytest
from pydantic import ValidationError

from engine.ari.request import Reply
from engine.runtime.agents.account_agents import Caller
from engine.runtime.agents.directory import AgentTemplate, Directory
from engine.runtime.base.interfaces import AgentPhone
from engine.runtime.pbx_nodes.node import IncomingChannel
from tests.harness.calls.builders import CHANNEL, ID, MAIN
from tests.harness.memory_store.store import MemoryStore
from tests.harness.rpc.scene import RpcScene
from tests.harness.runtime.ari_messages import ari, channel
from tests.harness.runtime.inbound_node import (
    BRIDGE,
    InboundNode,
    inbound_node,
    start_conversation,
)
from tests.harness.settings import read_settings
from tests.harness.until import until

REJECTED = (("reason_code", "21"),)
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
    assert await directory.agent_of("other", "PJSIP/1001") == Caller(is_foreign=True)


async def test_without_an_account_no_template_is_used() -> None:
    """Then each agent needs a document."""
    assert await find(directory_of(AgentTemplate("PJSIP/{agent_id}")), "acme", "1001") is None


async def test_a_template_with_the_account() -> None:
    """Each account has its own endpoints."""
    directory = directory_of(AgentTemplate("PJSIP/{account}.{agent_id}"))
    assert await find(directory, "other", "1001") == AgentPhone("PJSIP/other.1001")
    assert await directory.agent_of("other", "PJSIP/other.1001") == Caller("1001")
    assert await directory.agent_of("acme", "PJSIP/other.1001") == Caller(is_foreign=True)


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
    foreign = Caller(is_foreign=True, owner="other")
    assert await directory.agent_of("acme", "PJSIP/1002") == foreign


PHONES = pytest.mark.parametrize(
    ("endpoint", "claimed_by", "is_own"),
    [
        ("PJSIP/acme-ada", "acme", True),
        ("PJSIP/acme-ada", "", True),  # until the store has what it lost
        ("PJSIP/1001", "", True),  # by the template
        ("PJSIP/1002", "acme", True),
        ("PJSIP/trunk", "", True),
        ("PJSIP/other-ada", "other", False),
        ("PJSIP/other-ada", "", False),  # its agent was deleted a moment ago
        ("PJSIP/acme-ada", "other", False),  # as an operator has granted it
        ("PJSIP/1002", "other", False),
        ("PJSIP/front.desk.7+", "", False),  # no account's
    ],
)


@PHONES
async def test_a_phone_calls_numbers_of_its_account(
    endpoint: str, claimed_by: str, *, is_own: bool
) -> None:
    """Another's would use up the account's live calls, under no limit of its own."""
    async with inbound_node() as at:
        await at.route()
        if claimed_by:
            await at.store.phones.claim(endpoint, claimed_by)
        for number in (1, 2):  # the second time all is cached
            caller = f"1.{number}"
            at.service.handle_incoming(
                at.scene.shard, IncomingChannel(caller, "+47", "+4733333333", endpoint=endpoint)
            )
            await until(partial(is_handled, at, caller), every_s=0.001)
            assert at.has_call(caller) is is_own
        found = dict(at.context.metrics.calls.rejected)["inbound", "other_account"]
        assert found == (0 if is_own else 2)
        hangups = [each.request for each in at.scene.pbx.sent if each.request.method == "DELETE"]
        assert {each.query for each in hangups} == (set() if is_own else {REJECTED})


def is_handled(at: InboundNode, caller: str) -> bool:
    return at.has_call(caller) or f"DELETE channels/{caller}" in at.scene.pbx.lines


@PHONES
@pytest.mark.parametrize("is_recovered", [False, True])
async def test_a_phone_takes_a_place_in_calls_of_its_account(
    endpoint: str, claimed_by: str, *, is_own: bool, is_recovered: bool
) -> None:
    """Asterisk lets whoever knows a dialog take its place (INVITE with Replaces)."""
    async with inbound_node() as at:
        if claimed_by:
            await at.store.phones.claim(endpoint, claimed_by)
        live_call = start_conversation(at)
        entered = {**channel(CHANNEL), "name": f"{endpoint}-00000007"}
        if is_recovered:
            at.node.on_disconnected(0, 30_000)
            bridge = {**BRIDGE, "id": f"{ID}.b2", "channels": [MAIN, CHANNEL]}
            at.scene.pbx.shows["bridges"] = Reply(200, msgspec.json.encode([bridge]))
            at.shows(channel(MAIN), entered)
            at.node.on_connected(0)
        else:
            gone = channel(f"{ID}.l1")
            at.node.on_event(0, ari("StasisStart", channel=entered, args=[], replace_channel=gone))
        await until(lambda: live_call.call.is_up(CHANNEL), every_s=0.001)
        await until(lambda: at.directory.known_caller("acme", endpoint) is not None)
        at.scene.pbx.settle()
        assert (f"DELETE channels/{CHANNEL}" in at.scene.pbx.lines) is not is_own


async def test_one_endpoint_belongs_to_one_account(scene: RpcScene) -> None:
    """A second account may have it when no agent of the first has it any more."""
    await scene.documents.agent("acme", "a", PHONE)
    await scene.documents.agent("acme", "b", PHONE)
    taken = (409, "endpoint_taken")
    assert await scene.problem("POST", "/agents/other/a/check", PHONE) == taken
    await scene.documents.delete("acme", "agent", "a")
    assert await scene.problem("POST", "/agents/other/a/check", PHONE) == taken
    moved = {**PHONE, "endpoint": "PJSIP/1003"}
    await scene.documents.agent("acme", "b", moved)
    await scene.documents.agent("other", "a", PHONE)
