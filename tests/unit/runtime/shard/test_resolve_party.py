"""Calling a party: whether it may be, and where an agent is, is known before the PBX is asked."""

import pytest

from engine.calls.model.commands import Originate, StartRinging
from engine.calls.model.events import LegEnded
from engine.runtime.base.ports import DialDecision, DialRefusal
from tests.unit.calls.harness.builders import ID, MAIN
from tests.unit.runtime.harness.executor_bench import (
    ExecutorBench,
    ManualAgentResolver,
    ManualDialPolicy,
)

CALLS_AGENT = Originate(f"{ID}.l1", "agent:sales7", "")


def test_an_agent_is_called_where_the_directory_says() -> None:
    """The account's directory is asked first; what follows waits for that."""
    agents = ManualAgentResolver()
    bench = ExecutorBench(CALLS_AGENT, StartRinging(MAIN), agents=agents)
    assert (agents.requests, bench.pbx.lines) == ([(bench.actor.call.account, "sales7")], [])
    agents.resolve_to("PJSIP/1002")
    assert dict(bench.pbx.sent[0].request.query)["endpoint"] == "PJSIP/1002"
    bench.pbx.settle()
    assert bench.pbx.lines == ["POST channels/create", f"POST channels/{MAIN}/ring"]


def test_an_agent_who_has_no_endpoint_fails_the_leg() -> None:
    """The PBX is not asked, and the call goes on at once."""
    agents = ManualAgentResolver()
    bench = ExecutorBench(CALLS_AGENT, StartRinging(MAIN), agents=agents)
    agents.resolve_to(None)
    assert bench.events == [LegEnded(f"{ID}.l1", 41)]
    assert bench.pbx.lines == [f"POST channels/{MAIN}/ring"]


def test_what_the_directory_says_after_a_recovery_counts_no_more() -> None:
    """The recovery calls the agent again, if it must."""
    agents = ManualAgentResolver()
    bench = ExecutorBench(CALLS_AGENT, agents=agents)
    bench.actor.recover(())
    agents.resolve_to("PJSIP/1002")
    assert bench.pbx.lines == []


def test_numbers_need_no_directory() -> None:
    """A call to a number goes out in the same breath."""
    agents = ManualAgentResolver()
    bench = ExecutorBench(Originate(f"{ID}.l1", "+4712345678", ""), agents=agents)
    assert (agents.requests, bench.pbx.lines) == ([], ["POST channels/create"])


CALLS_NUMBER = Originate(f"{ID}.l1", "+4712345678", "+15550001")


def test_a_party_that_may_be_called_is_shown_what_may_be() -> None:
    """The judge is asked before the PBX; what follows waits for that."""
    judge = ManualDialPolicy()
    bench = ExecutorBench(CALLS_NUMBER, StartRinging(MAIN), judge=judge)
    assert judge.requests == [(bench.actor.call.account, "+4712345678", "+15550001")]
    assert bench.pbx.lines == []
    judge.decide(DialDecision("", "+4721930000"))
    (sent,) = bench.pbx.sent
    assert sent.request.body == {"variables": {"CONNECTEDLINE(num,i)": "+4721930000"}}
    bench.pbx.settle()
    assert bench.pbx.lines == ["POST channels/create", f"POST channels/{MAIN}/ring"]
    assert bench.actor.outbox == []


@pytest.mark.parametrize(
    ("refusal", "cause"), [("not_allowed", 21), ("do_not_call", 21), ("terms_unknown", 41)]
)
def test_a_party_that_may_not_be_called_fails_the_leg(refusal: DialRefusal, cause: int) -> None:
    """As one that was refused, with the reason; the PBX is not asked, and the call goes on."""
    judge = ManualDialPolicy()
    bench = ExecutorBench(CALLS_NUMBER, StartRinging(MAIN), judge=judge)
    judge.decide(DialDecision(refusal))
    assert bench.events == [LegEnded(f"{ID}.l1", cause, reason=refusal)]
    assert bench.pbx.lines == [f"POST channels/{MAIN}/ring"]
    assert bench.actor.outbox == [StartRinging(MAIN)]


def test_a_verdict_after_a_recovery_counts_no_more() -> None:
    """The recovery asks again, if it must."""
    judge = ManualDialPolicy()
    bench = ExecutorBench(CALLS_NUMBER, judge=judge)
    bench.actor.recover(())
    judge.decide(DialDecision("do_not_call"))
    assert (bench.pbx.lines, bench.events) == ([], [])


def test_an_agent_is_judged_before_it_is_looked_for() -> None:
    """What the judge lets be shown is shown to agents, too."""
    agents, judge = ManualAgentResolver(), ManualDialPolicy()
    bench = ExecutorBench(CALLS_AGENT, agents=agents, judge=judge)
    assert agents.requests == []
    judge.decide(DialDecision(""))
    agents.resolve_to("PJSIP/1002")
    assert dict(bench.pbx.sent[0].request.query)["endpoint"] == "PJSIP/1002"
