"""Resolving a party: permission and an agent's endpoint come before any PBX request."""

import pytest
from msgspec.structs import replace

from engine.ari.request import Reply
from engine.calls.model.commands import Originate, StartRinging
from engine.calls.model.events import AgentNamed, LegEnded
from engine.runtime.base.interfaces import DialDecision, DialRejection
from engine.runtime.shard.outbound_leg_setup import NO_TRUNK
from engine.runtime.shard.outbox import mark_committed
from tests.harness.calls.builders import ID, MAIN, outbound
from tests.harness.runtime.executor_scene import (
    ExecutorScene,
    ManualAgentResolver,
    ManualDialPolicy,
)
from tests.harness.runtime.recording_pbx import OK
from tests.harness.runtime.shard_scene import ORIGINATE
from wire.agents import PhoneKind

CALLS_AGENT = Originate(f"{ID}.l1", "agent:sales7", "")
LOOK_UP = f"GET channels/{ID}.l1"


def test_an_agent_is_called_at_its_endpoint() -> None:
    """The account's directory is queried first; later commands wait for that."""
    agents = ManualAgentResolver()
    scene = ExecutorScene(CALLS_AGENT, StartRinging(MAIN), agents=agents)
    assert (agents.requests, scene.pbx.lines) == ([(scene.live_call.call.account, "sales7")], [])
    agents.resolve_to("PJSIP/1002")
    assert dict(scene.pbx.sent[0].request.query)["endpoint"] == "PJSIP/1002"
    scene.pbx.settle()
    assert scene.pbx.lines == ["POST channels/create", f"POST channels/{MAIN}/ring"]


def test_the_call_learns_the_name_of_its_agent() -> None:
    """The record shows the name of the directory."""
    agents = ManualAgentResolver()
    scene = ExecutorScene(CALLS_AGENT, agents=agents)
    agents.resolve_to("PJSIP/1002", "Nina Berg")
    assert scene.events == [AgentNamed(CALLS_AGENT.leg, "Nina Berg")]
    assert scene.pbx.lines == ["POST channels/create"]


@pytest.mark.parametrize(
    ("caller_id", "name"), [("+4799", "Anna"), ("+4721930000", None)], ids=["own", "another"]
)
def test_an_agent_sees_the_name_that_belongs_to_the_number(
    caller_id: str, name: str | None
) -> None:
    """With another number than the caller's, the caller's name would be wrong."""
    agents = ManualAgentResolver()
    calls_agent = replace(CALLS_AGENT, caller_id=caller_id)
    scene = ExecutorScene(calls_agent, agents=agents, call=outbound(caller_name="Anna"))
    agents.resolve_to("PJSIP/1002")
    (sent,) = scene.pbx.sent
    assert (sent.request.body or {})["variables"].get("CONNECTEDLINE(name,i)") == name


@pytest.mark.parametrize(("kind", "gets_leg"), [("browser", True), ("sip", False)])
def test_a_phone_in_a_browser_learns_its_leg(kind: PhoneKind, gets_leg: bool) -> None:
    """Only a page that runs the phone can use the id."""
    agents = ManualAgentResolver()
    scene = ExecutorScene(replace(CALLS_AGENT, caller_id="+4799"), agents=agents)
    agents.resolve_to("PJSIP/1002", kind=kind)
    (sent,) = scene.pbx.sent
    variables = (sent.request.body or {})["variables"]
    assert ("PJSIP_HEADER(add,X-Switchroom-Leg)" in variables) is gets_leg


def test_an_agent_without_endpoint_fails_the_leg() -> None:
    """The PBX gets no request, and the call continues at once."""
    agents = ManualAgentResolver()
    scene = ExecutorScene(CALLS_AGENT, StartRinging(MAIN), agents=agents)
    agents.resolve_to(None)
    assert scene.events == [LegEnded(f"{ID}.l1", 41)]
    assert scene.pbx.lines == [f"POST channels/{MAIN}/ring"]


def test_an_endpoint_found_after_a_recovery_is_ignored() -> None:
    """The recovery originates the leg again if necessary."""
    agents = ManualAgentResolver()
    scene = ExecutorScene(CALLS_AGENT, agents=agents)
    scene.live_call.recover(())
    agents.resolve_to("PJSIP/1002")
    assert scene.pbx.lines == []


def test_numbers_need_no_directory() -> None:
    """A call to a number is sent at once."""
    agents = ManualAgentResolver()
    scene = ExecutorScene(Originate(f"{ID}.l1", "+4712345678", ""), agents=agents)
    assert (agents.requests, scene.pbx.lines) == ([], ["POST channels/create"])


CALLS_NUMBER = Originate(f"{ID}.l1", "+4712345678", "+15550001")


def test_an_allowed_party_gets_the_decided_caller_id() -> None:
    """The policy decides before the PBX request; later commands wait for that."""
    policy = ManualDialPolicy()
    scene = ExecutorScene(CALLS_NUMBER, StartRinging(MAIN), policy=policy)
    assert policy.requests == [(scene.live_call.call.account, "+4712345678", "+15550001")]
    assert scene.pbx.lines == []
    policy.decide(DialDecision("", "+4721930000"))
    (sent,) = scene.pbx.sent
    assert sent.request.body == {"variables": {"CONNECTEDLINE(num,i)": "+4721930000"}}
    scene.pbx.settle()
    assert scene.pbx.lines == ["POST channels/create", f"POST channels/{MAIN}/ring"]
    assert scene.live_call.outbox.commands == ()


def test_a_national_number_is_dialled_as_decided() -> None:
    """With the code of the account's country: a carrier may take it for another country's."""
    policy = ManualDialPolicy()
    national = Originate(f"{ID}.l1", "21930000", "+15550001")
    scene = ExecutorScene(national, policy=policy)
    policy.decide(DialDecision("", "+4721930000", party="+4721930000"))
    endpoint = dict(scene.pbx.sent[0].request.query)["endpoint"]
    assert "/+4721930000" in endpoint


@pytest.mark.parametrize(
    ("rejection", "cause"), [("not_allowed", 21), ("do_not_call", 21), ("terms_unknown", 41)]
)
def test_a_rejected_party_fails_the_leg(rejection: DialRejection, cause: int) -> None:
    """The leg ends with the reason; the PBX gets no request, and the call continues."""
    policy = ManualDialPolicy()
    scene = ExecutorScene(CALLS_NUMBER, StartRinging(MAIN), policy=policy)
    policy.decide(DialDecision(rejection))
    assert scene.events == [LegEnded(f"{ID}.l1", cause, reason=rejection)]
    assert scene.pbx.lines == [f"POST channels/{MAIN}/ring"]
    assert scene.live_call.outbox.commands == (StartRinging(MAIN),)
    assert dict(scene.counts.parties_rejected) == {(rejection,): 1}


def test_a_decision_after_a_recovery_is_ignored() -> None:
    """The recovery asks the policy again if necessary."""
    policy = ManualDialPolicy()
    scene = ExecutorScene(CALLS_NUMBER, policy=policy)
    scene.live_call.recover(())
    policy.decide(DialDecision("do_not_call"))
    assert (scene.pbx.lines, scene.events) == ([], [])


@pytest.mark.parametrize(("is_repeated", "lines"), [(False, []), (True, [LOOK_UP])])
def test_a_limit_of_the_account(is_repeated: bool, lines: list[str]) -> None:
    """It rejects a new leg, but not one that the last owner of the call may have dialled."""
    policy = ManualDialPolicy()
    policy.limit = "live_legs"
    scene = ExecutorScene(policy=policy)
    commands = mark_committed(scene.live_call.outbox.add([CALLS_NUMBER]))
    if is_repeated:
        commands = scene.live_call.recover((CALLS_NUMBER,))
    scene.executor.execute(scene.live_call, commands)
    policy.decide(DialDecision(""))
    assert scene.pbx.lines == lines
    assert policy.admitted == ([] if is_repeated else [CALLS_NUMBER.leg])
    assert scene.events == ([] if is_repeated else [LegEnded(f"{ID}.l1", 41, reason="live_legs")])


@pytest.mark.parametrize(("reply", "more"), [(OK, []), (Reply(404), [ORIGINATE]), (Reply(500), [])])
def test_a_leg_that_is_repeated(reply: Reply, more: list[str]) -> None:
    """It is created if the PBX has none: a second one would be refused, and the first forgotten."""
    scene = ExecutorScene()
    mark_committed(scene.live_call.outbox.add([CALLS_NUMBER]))
    scene.executor.execute(scene.live_call, scene.live_call.recover((CALLS_NUMBER,)))
    scene.pbx.reply(reply)
    assert scene.pbx.lines == [LOOK_UP, *more]
    scene.pbx.settle()
    assert scene.live_call.outbox.commands == ()
    failed = [] if reply.status != 500 else [LegEnded(f"{ID}.l1", 41, reason="unavailable")]
    assert scene.events == failed


def test_a_leg_over_another_trunk() -> None:
    """It was counted when it was dialled over the first one, which may be the only one."""
    policy = ManualDialPolicy()
    scene = ExecutorScene(replace(CALLS_NUMBER, trunk=1), policy=policy)
    policy.decide(DialDecision(""))
    assert (policy.admitted, scene.pbx.lines) == ([], [])
    assert scene.events == [LegEnded(f"{ID}.l1", 34, reason=NO_TRUNK)]


def test_an_agent_is_authorized_before_it_is_resolved() -> None:
    """The decided caller id applies to agents, too."""
    agents, policy = ManualAgentResolver(), ManualDialPolicy()
    scene = ExecutorScene(CALLS_AGENT, agents=agents, policy=policy)
    assert agents.requests == []
    policy.decide(DialDecision(""))
    agents.resolve_to("PJSIP/1002")
    assert dict(scene.pbx.sent[0].request.query)["endpoint"] == "PJSIP/1002"


@pytest.mark.parametrize(
    ("decided", "withheld"), [("+15550001", True), ("+4721930000", False)], ids=["same", "other"]
)
def test_a_number_of_the_account_is_not_withheld(decided: str, withheld: bool) -> None:
    """A policy may replace the caller's number, which stays withheld only if it is shown."""
    policy = ManualDialPolicy()
    command = Originate(f"{ID}.l1", "+4712345678", "+15550001", withheld=True)
    scene = ExecutorScene(command, policy=policy)
    policy.decide(DialDecision("", decided))
    variables = (scene.pbx.sent[0].request.body or {})["variables"]
    assert variables["CONNECTEDLINE(num,i)"] == decided
    assert ("CONNECTEDLINE(pres,i)" in variables) is withheld
