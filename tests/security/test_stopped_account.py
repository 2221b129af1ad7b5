"""M12: a stopped account has no calls and no callbacks, at once and in every engine."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from api.jobs.housekeeping import background
from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.delivery_attempt import DeliveryAttempt, RetrySchedule
from engine.callbacks.settings_changes import AccountSecrets
from engine.callbacks.shard_queues import CallQueue
from engine.observe.metrics import Metrics
from engine.runtime.call_service import AccountCalls
from engine.runtime.pbx_nodes.node import IncomingChannel
from engine.runtime.policy.dial_policy import DialPolicy
from engine.runtime.policy.operator_stops import StoppedAccounts
from tests.harness.api.cli import switchroom
from tests.harness.api.rest import SECRET, Rest
from tests.harness.calls.builders import CHANNEL, outbound
from tests.harness.memory_store.documents import MemoryDialPolicyStore
from tests.harness.memory_store.store import MemoryStore
from tests.harness.ports import free_port
from tests.harness.rpc.conversation import talking
from tests.harness.rpc.scene import TOKEN, RpcScene
from tests.harness.runtime.inbound_node import inbound_node
from tests.harness.shards import at
from tests.harness.until import until

STOPPED = {"destinations": [], "isStopped": True}


@pytest.mark.parametrize("party", ["+4721930000", "agent:1001", "sip:ada@sbc.example.com"])
async def test_no_leg_is_dialled(party: str) -> None:
    """Neither a number nor an agent."""
    policy = DialPolicy(MemoryDialPolicyStore(), lambda: 0, is_stopped=lambda _account: True)
    decisions: list[str] = []
    policy.authorize(outbound(), party, "", lambda found: decisions.append(found.rejection))
    assert decisions == ["account_stopped"]
    assert await policy.check("acme", party) == "account_stopped"


async def test_live_calls_are_hung_up(scene: RpcScene) -> None:
    """Those of the account, once; other accounts' calls go on."""
    talk = await talking(scene)
    other = await talking(scene, account="other")
    stopped, calls = StoppedAccounts(scene.store.dial_policies), AccountCalls(scene.service)
    await stopped.poll(calls.hang_up)
    assert (await talk.shown())["state"] == "bridged"
    assert (await scene.request("PUT", "/terms/acme", STOPPED))[0] == 200
    await stopped.poll(calls.hang_up)
    await talk.does("DELETE channels/")
    assert (await talk.shown())["state"] != "bridged"
    assert stopped.has("acme")
    assert not stopped.has("other")
    assert (await scene.request("GET", f"/calls/{other.call}"))[0] == 200
    assert (await scene.request("PUT", "/terms/acme", {}))[0] == 200
    await stopped.poll(calls.hang_up)
    assert not stopped.has("acme")


def settings(engine_url: str) -> dict[str, str]:
    return {
        "SWITCHROOM_RPC_TOKEN": TOKEN,
        "SWITCHROOM_TOKEN_SECRET": SECRET,
        "SWITCHROOM_ENGINE_URLS": json.dumps([engine_url]),
    }


async def test_the_command_hangs_up_live_calls(tmp_path: Path, rest: Rest, scene: RpcScene) -> None:
    """From the command to the PBX; no REST process has to run."""
    talk = await talking(scene)
    stopped, calls = StoppedAccounts(scene.store.dial_policies), AccountCalls(scene.service)
    async with background(stopped.run(calls.hang_up)):
        ended = await switchroom(tmp_path, "account", "stop", "acme", **settings(scene.url))
        assert ended == (0, "acme is stopped: the engines hang up its calls\n")
        await talk.does("DELETE channels/")
    assert not (await rest.services.accounts.get("acme")).is_active


@pytest.mark.parametrize("has_settings", [True, False])
async def test_the_command_says_that_no_engine_knows(
    tmp_path: Path, rest: Rest, *, has_settings: bool
) -> None:
    """No engine answers, or settings are missing: the account is stopped in the database."""
    more = settings(f"http://127.0.0.1:{free_port()}") if has_settings else {}
    status, said = await switchroom(tmp_path, "account", "stop", "acme", **more)
    assert status == 1
    reason = "no engine answers" if has_settings else "SWITCHROOM_RPC_TOKEN: "
    assert f"acme is stopped, but the engines do not know ({reason}" in said
    assert not (await rest.services.accounts.get("acme")).is_active


async def test_a_call_that_comes_in_is_rejected() -> None:
    """It is not answered, and its channel is hung up."""
    policy = DialPolicy(MemoryDialPolicyStore(), lambda: 0, is_stopped=lambda _account: True)
    async with inbound_node() as at:
        await at.route()
        shard = at.scene.shard
        endpoints = replace(shard.context.endpoints, policy=policy)
        shard.context = replace(shard.context, endpoints=endpoints)
        at.service.handle_incoming(shard, IncomingChannel(CHANNEL, "+4722222222", "+4733333333"))
        await until(lambda: bool(at.scene.pbx.sent), what="a hangup")
        assert [each.split("?")[0] for each in at.scene.pbx.lines] == [f"DELETE channels/{CHANNEL}"]
        assert not at.has_call(CHANNEL)


async def test_no_callback_is_delivered() -> None:
    """Its events become dead letters, which can be sent again once the account is started."""
    transports: dict[type, Any] = {}
    attempt = DeliveryAttempt(
        AccountSettings(MemoryStore().callback_queue, lambda: 0, AccountSecrets(b"key")),
        transports,
        RetrySchedule((0.0,)),
        clock=lambda: 0.0,
        now_ms=lambda: 0,
        random=lambda: 0.0,
        metrics=Metrics().callbacks,
        is_stopped=lambda account: account == "acme",
    )
    call = CallQueue(at(0), "0-pbx1-one", "acme grpc://192.0.2.1")
    decision = await attempt.deliver(call, (1, b"{}"))
    assert decision.give_up_reason == "account_stopped"
