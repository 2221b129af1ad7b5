"""Doing what calls want: one request after another for each call, hangups at once."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from engine.ari.request import Reply
from engine.calls.call import Call
from engine.calls.commands import (
    Bridge,
    Command,
    Hangup,
    Originate,
    Ring,
    StartRinging,
    StopRinging,
    Tell,
)
from engine.calls.doing import Talking
from engine.calls.errands import Prefetch
from engine.calls.events import BridgeFailed, Event, LegAnswered, LegEnded, LegPlaced
from engine.runtime.actor import Actor
from engine.runtime.perform import Performer
from engine.runtime.ports import Refusal, Verdict
from tests.unit.calls.building import ID, MAIN, dialing, outbound
from tests.unit.runtime.building import LOST, OK, PLAN, HandErrands, RecordingPbx, World
from wire.media import Speech


class HandAgents:
    """A directory that the test answers."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.found: Callable[[str | None], None] = lambda _endpoint: None

    def resolve(self, account: str, agent_id: str, done: Callable[[str | None], None]) -> None:
        """Keep the question."""
        self.asked.append((account, agent_id))
        self.found = done


class HandJudge:
    """A judge whose verdict the test gives."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.says: Callable[[Verdict], None] = lambda _verdict: None

    def judge(
        self, call: Call, party: str, caller_id: str, done: Callable[[Verdict], None]
    ) -> None:
        """Keep the question."""
        self.asked.append((call.account, party, caller_id))
        self.says = done


class Bench:
    """A performer, its PBX, and the events that came back."""

    def __init__(
        self,
        *commands: Command,
        agents: HandAgents | None = None,
        judge: HandJudge | None = None,
    ) -> None:
        self.pbx = RecordingPbx()
        self.errands = HandErrands()
        self.events: list[Event] = []
        self.doubts: list[bool] = []
        self.actor = Actor(outbound(), commands)
        self.performer = Performer(
            self.pbx,
            replace(PLAN, agents=agents, judge=judge),
            self.errands,
            lambda _, event: self.events.append(event),
            lambda: self.doubts.append(True),
        )
        self.performer.perform(self.actor, commands)


def test_a_calls_requests_go_one_after_another() -> None:
    """The next is sent when the one before has its reply, whatever the reply."""
    bench = Bench(StartRinging(MAIN), StopRinging(MAIN))
    assert bench.pbx.lines == [f"POST channels/{MAIN}/ring"]
    bench.pbx.reply(Reply(412))
    assert bench.pbx.lines[-1] == f"DELETE channels/{MAIN}/ring"
    bench.pbx.reply()
    assert not bench.actor.busy
    assert bench.actor.outbox == []


def test_a_hangup_waits_for_nothing() -> None:
    """It is sent at once, though another request is on its way, and holds up none."""
    bench = Bench(StartRinging(MAIN), StopRinging(MAIN))
    bench.performer.perform(bench.actor, (Hangup(MAIN, 16),))
    assert bench.pbx.lines == [f"POST channels/{MAIN}/ring", f"DELETE channels/{MAIN}"]
    hangup = bench.pbx.sent.pop()
    hangup.done(Reply(404))
    assert bench.actor.busy
    assert len(bench.pbx.sent) == 1


def test_a_bridge_is_two_requests() -> None:
    """It is made, or was made before, then its legs join; a failure of either is told."""
    bridge = Bridge(f"{ID}.b1", (MAIN, f"{ID}.l1"))
    for first, second, failed in (
        (OK, OK, False),
        (Reply(409), Reply(204), False),
        (Reply(500, b'{"message":"no"}'), None, True),
        (OK, Reply(409), True),
        (OK, Reply(422), True),
    ):
        bench = Bench(bridge)
        assert bench.pbx.sent[0].may_block
        bench.pbx.reply(first)
        if second is not None:
            bench.pbx.reply(second)
        assert [type(each) for each in bench.events] == ([BridgeFailed] if failed else [])
        assert bench.actor.outbox == []


def test_a_party_is_called_in_one_breath() -> None:
    """The mark and the call go without a pause: a crash between them would leave a silent leg."""
    bench = Bench(Ring(MAIN, 30), StartRinging(MAIN))
    assert bench.pbx.lines == [f"POST channels/{MAIN}/variable", f"POST channels/{MAIN}/dial"]
    bench.pbx.reply(Reply(204))
    assert bench.actor.busy
    bench.pbx.reply(Reply(204))
    assert bench.pbx.lines[-1] == f"POST channels/{MAIN}/ring"
    assert bench.actor.outbox == [StartRinging(MAIN)]


CALLS_AGENT = Originate(f"{ID}.l1", "agent:sales7", "")


def test_an_agent_is_called_where_the_directory_says() -> None:
    """The account's directory is asked first; what follows waits for that."""
    agents = HandAgents()
    bench = Bench(CALLS_AGENT, StartRinging(MAIN), agents=agents)
    assert (agents.asked, bench.pbx.lines) == ([(bench.actor.call.account, "sales7")], [])
    agents.found("PJSIP/1002")
    assert dict(bench.pbx.sent[0].request.query)["endpoint"] == "PJSIP/1002"
    bench.pbx.settle()
    assert bench.pbx.lines == ["POST channels/create", f"POST channels/{MAIN}/ring"]


def test_an_agent_who_has_no_endpoint_fails_the_leg() -> None:
    """The PBX is not asked, and the call goes on at once."""
    agents = HandAgents()
    bench = Bench(CALLS_AGENT, StartRinging(MAIN), agents=agents)
    agents.found(None)
    assert bench.events == [LegEnded(f"{ID}.l1", 41)]
    assert bench.pbx.lines == [f"POST channels/{MAIN}/ring"]


def test_what_the_directory_says_after_a_recovery_counts_no_more() -> None:
    """The recovery calls the agent again, if it must."""
    agents = HandAgents()
    bench = Bench(CALLS_AGENT, agents=agents)
    bench.actor.recover(())
    agents.found("PJSIP/1002")
    assert bench.pbx.lines == []


def test_numbers_need_no_directory() -> None:
    """A call to a number goes out in the same breath."""
    agents = HandAgents()
    bench = Bench(Originate(f"{ID}.l1", "+4712345678", ""), agents=agents)
    assert (agents.asked, bench.pbx.lines) == ([], ["POST channels/create"])


CALLS_NUMBER = Originate(f"{ID}.l1", "+4712345678", "+15550001")


def test_a_party_that_may_be_called_is_shown_what_may_be() -> None:
    """The judge is asked before the PBX; what follows waits for that."""
    judge = HandJudge()
    bench = Bench(CALLS_NUMBER, StartRinging(MAIN), judge=judge)
    assert judge.asked == [(bench.actor.call.account, "+4712345678", "+15550001")]
    assert bench.pbx.lines == []
    judge.says(Verdict("", "+4721930000"))
    (sent,) = bench.pbx.sent
    assert sent.request.body == {"variables": {"CONNECTEDLINE(num,i)": "+4721930000"}}
    bench.pbx.settle()
    assert bench.pbx.lines == ["POST channels/create", f"POST channels/{MAIN}/ring"]
    assert bench.actor.outbox == []


@pytest.mark.parametrize(
    ("refusal", "cause"), [("not_allowed", 21), ("do_not_call", 21), ("terms_unknown", 41)]
)
def test_a_party_that_may_not_be_called_fails_the_leg(refusal: Refusal, cause: int) -> None:
    """As one that was refused, with the reason; the PBX is not asked, and the call goes on."""
    judge = HandJudge()
    bench = Bench(CALLS_NUMBER, StartRinging(MAIN), judge=judge)
    judge.says(Verdict(refusal))
    assert bench.events == [LegEnded(f"{ID}.l1", cause, reason=refusal)]
    assert bench.pbx.lines == [f"POST channels/{MAIN}/ring"]
    assert bench.actor.outbox == [StartRinging(MAIN)]


def test_a_verdict_after_a_recovery_counts_no_more() -> None:
    """The recovery asks again, if it must."""
    judge = HandJudge()
    bench = Bench(CALLS_NUMBER, judge=judge)
    bench.actor.recover(())
    judge.says(Verdict("do_not_call"))
    assert (bench.pbx.lines, bench.events) == ([], [])


def test_an_agent_is_judged_before_it_is_looked_for() -> None:
    """What the judge lets be shown is shown to agents, too."""
    agents, judge = HandAgents(), HandJudge()
    bench = Bench(CALLS_AGENT, agents=agents, judge=judge)
    assert agents.asked == []
    judge.says(Verdict(""))
    agents.found("PJSIP/1002")
    assert dict(bench.pbx.sent[0].request.query)["endpoint"] == "PJSIP/1002"


def test_doubt_keeps_the_command() -> None:
    """No reply: the queue stands still until a recovery."""
    bench = Bench(StartRinging(MAIN), StopRinging(MAIN))
    bench.pbx.reply(LOST)
    assert bench.doubts == [True]
    assert bench.pbx.sent == []
    assert len(bench.actor.outbox) == 2


def test_what_needs_no_pbx() -> None:
    """What is told was committed; what is prefetched is handed on and done."""
    story = dialing("+4712345678")
    tell = next(each for each in story.commands if isinstance(each, Tell))
    bench = Bench(tell, Prefetch((Speech("a"),)))
    assert bench.pbx.lines == []
    assert bench.errands.prefetched == [Speech("a")]
    assert bench.actor.outbox == [tell]


def test_a_queue_keeps_the_order_of_steps() -> None:
    """What later steps want comes after what earlier ones wanted."""
    world = World()
    story = dialing("+4712345678")
    actor = world.desk.adopt(Actor(story.call))
    world.desk.feed(actor, LegPlaced(f"{ID}.l1"))
    world.desk.feed(actor, LegAnswered(f"{ID}.l1"))
    assert isinstance(actor.call.doing, Talking)
    world.pbx.settle()
    assert world.pbx.lines == [
        f"POST channels/{ID}.l1/variable",
        f"POST channels/{ID}.l1/dial",
        f"DELETE channels/{MAIN}/ring",
        f"POST bridges/{ID}.b2",
        f"POST bridges/{ID}.b2/addChannel",
    ]
