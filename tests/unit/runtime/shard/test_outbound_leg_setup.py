"""Resolving a party: permission and an agent's endpoint come before any PBX request."""

import pytest

from engine.calls.model.commands import Originate, StartRinging
from engine.calls.model.events import AgentNamed, LegEnded
from engine.runtime.base.interfaces import DialDecision, DialRejection
from tests.unit.calls.harness.builders import ID, MAIN
from tests.unit.runtime.harness.executor_bench import (
    ExecutorBench,
    ManualAgentResolver,
    ManualDialPolicy,
)
from tests.unit.runtime.harness.shard_bench import ORIGINATE

CALLS_AGENT = Originate(f"{ID}.l1", "agent:sales7", "")


def test_an_agent_is_called_at_its_endpoint() -> None:
    """The account's directory is queried first; later commands wait for that."""
    agents = ManualAgentResolver()
    bench = ExecutorBench(CALLS_AGENT, StartRinging(MAIN), agents=agents)
    assert (agents.requests, bench.pbx.lines) == ([(bench.live_call.call.account, "sales7")], [])
    agents.resolve_to("PJSIP/1002")
    assert dict(bench.pbx.sent[0].request.query)["endpoint"] == "PJSIP/1002"
    bench.pbx.settle()
    assert bench.pbx.lines == ["POST channels/create", f"POST channels/{MAIN}/ring"]


def test_the_call_learns_the_name_of_its_agent() -> None:
    """The record shows the name of the directory."""
    agents = ManualAgentResolver()
    bench = ExecutorBench(CALLS_AGENT, agents=agents)
    agents.resolve_to("PJSIP/1002", "Nina Berg")
    assert bench.events == [AgentNamed(CALLS_AGENT.leg, "Nina Berg")]
    assert bench.pbx.lines == ["POST channels/create"]


def test_an_agent_without_endpoint_fails_the_leg() -> None:
    """The PBX gets no request, and the call continues at once."""
    agents = ManualAgentResolver()
    bench = ExecutorBench(CALLS_AGENT, StartRinging(MAIN), agents=agents)
    agents.resolve_to(None)
    assert bench.events == [LegEnded(f"{ID}.l1", 41)]
    assert bench.pbx.lines == [f"POST channels/{MAIN}/ring"]


def test_an_endpoint_found_after_a_recovery_is_ignored() -> None:
    """The recovery originates the leg again if necessary."""
    agents = ManualAgentResolver()
    bench = ExecutorBench(CALLS_AGENT, agents=agents)
    bench.live_call.recover(())
    agents.resolve_to("PJSIP/1002")
    assert bench.pbx.lines == []


def test_numbers_need_no_directory() -> None:
    """A call to a number is sent at once."""
    agents = ManualAgentResolver()
    bench = ExecutorBench(Originate(f"{ID}.l1", "+4712345678", ""), agents=agents)
    assert (agents.requests, bench.pbx.lines) == ([], ["POST channels/create"])


CALLS_NUMBER = Originate(f"{ID}.l1", "+4712345678", "+15550001")


def test_an_allowed_party_gets_the_decided_caller_id() -> None:
    """The policy decides before the PBX request; later commands wait for that."""
    policy = ManualDialPolicy()
    bench = ExecutorBench(CALLS_NUMBER, StartRinging(MAIN), policy=policy)
    assert policy.requests == [(bench.live_call.call.account, "+4712345678", "+15550001")]
    assert bench.pbx.lines == []
    policy.decide(DialDecision("", "+4721930000"))
    (sent,) = bench.pbx.sent
    assert sent.request.body == {"variables": {"CONNECTEDLINE(num,i)": "+4721930000"}}
    bench.pbx.settle()
    assert bench.pbx.lines == ["POST channels/create", f"POST channels/{MAIN}/ring"]
    assert bench.live_call.outbox == []


def test_a_national_number_is_dialled_as_decided() -> None:
    """With the code of the account's country: a carrier may take it for another country's."""
    policy = ManualDialPolicy()
    national = Originate(f"{ID}.l1", "21930000", "+15550001")
    bench = ExecutorBench(national, policy=policy)
    policy.decide(DialDecision("", "+4721930000", party="+4721930000"))
    endpoint = dict(bench.pbx.sent[0].request.query)["endpoint"]
    assert "/+4721930000" in endpoint


@pytest.mark.parametrize(
    ("rejection", "cause"), [("not_allowed", 21), ("do_not_call", 21), ("terms_unknown", 41)]
)
def test_a_rejected_party_fails_the_leg(rejection: DialRejection, cause: int) -> None:
    """The leg ends with the reason; the PBX gets no request, and the call continues."""
    policy = ManualDialPolicy()
    bench = ExecutorBench(CALLS_NUMBER, StartRinging(MAIN), policy=policy)
    policy.decide(DialDecision(rejection))
    assert bench.events == [LegEnded(f"{ID}.l1", cause, reason=rejection)]
    assert bench.pbx.lines == [f"POST channels/{MAIN}/ring"]
    assert bench.live_call.outbox == [StartRinging(MAIN)]


def test_a_decision_after_a_recovery_is_ignored() -> None:
    """The recovery asks the policy again if necessary."""
    policy = ManualDialPolicy()
    bench = ExecutorBench(CALLS_NUMBER, policy=policy)
    bench.live_call.recover(())
    policy.decide(DialDecision("do_not_call"))
    assert (bench.pbx.lines, bench.events) == ([], [])


@pytest.mark.parametrize(("is_repeated", "lines"), [(False, []), (True, [ORIGINATE])])
def test_a_limit_of_the_account(is_repeated: bool, lines: list[str]) -> None:
    """It rejects a new leg, but not one that the last owner of the call may have dialled."""
    policy = ManualDialPolicy()
    policy.limit = "live_legs"
    bench = ExecutorBench(policy=policy)
    bench.live_call.outbox.append(CALLS_NUMBER)
    commands = bench.live_call.recover((CALLS_NUMBER,)) if is_repeated else (CALLS_NUMBER,)
    bench.executor.execute(bench.live_call, commands)
    policy.decide(DialDecision(""))
    assert bench.pbx.lines == lines
    assert policy.admitted == ([] if is_repeated else [CALLS_NUMBER.leg])
    assert bench.events == ([] if is_repeated else [LegEnded(f"{ID}.l1", 41, reason="live_legs")])


def test_an_agent_is_authorized_before_it_is_resolved() -> None:
    """The decided caller id applies to agents, too."""
    agents, policy = ManualAgentResolver(), ManualDialPolicy()
    bench = ExecutorBench(CALLS_AGENT, agents=agents, policy=policy)
    assert agents.requests == []
    policy.decide(DialDecision(""))
    agents.resolve_to("PJSIP/1002")
    assert dict(bench.pbx.sent[0].request.query)["endpoint"] == "PJSIP/1002"


@pytest.mark.parametrize(
    ("decided", "withheld"), [("+15550001", True), ("+4721930000", False)], ids=["same", "other"]
)
def test_a_number_of_the_account_is_not_withheld(decided: str, withheld: bool) -> None:
    """A policy may replace the caller's number, which stays withheld only if it is shown."""
    policy = ManualDialPolicy()
    command = Originate(f"{ID}.l1", "+4712345678", "+15550001", withheld=True)
    bench = ExecutorBench(command, policy=policy)
    policy.decide(DialDecision("", decided))
    variables = (bench.pbx.sent[0].request.body or {})["variables"]
    assert variables["CONNECTEDLINE(num,i)"] == decided
    assert ("CONNECTEDLINE(pres,i)" in variables) is withheld
