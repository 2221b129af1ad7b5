"""REFER with Replaces: a phone connects its other parties of two calls, and leaves both."""

import pytest
from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.commands import (
    Answer,
    AnswerRefer,
    DestroyBridge,
    Hangup,
    Originate,
    ReferOutcome,
    ReplacedLeg,
)
from engine.calls.model.events import LegAnswered, LegCreated, LegEnded, LegHeldByPhone
from engine.calls.model.requests import ReferReceived, ReplacementArrived
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.calls.recovery.reconcile import reconcile
from engine.calls.sessions.replacement import MAX_REPLACEMENTS
from tests.harness.calls.builders import MAIN, NOW, Story, bridged_call, dialing_call, say
from tests.harness.calls.control import (
    BOB,
    CAROL,
    PEER,
    TARGET,
    bridged_legs,
    in_conference,
    media_of,
    transfer,
    transfer_events,
    transferring,
)
from tests.harness.calls.recoveries import outbox
from wire.call_id_format import is_mixed_bridge, other_half

P2, APP = "1700000000.9", "switchroom-5"
DECLINED = AnswerRefer(PEER, accepted=False)
ARRIVED = other_half("3-pbx1-otherone.l4")
REFUSED = (Hangup(ARRIVED, causes.REJECTED),)


def refer(leg: str = PEER, party: str = CAROL, replaced: str = P2) -> ReferReceived:
    app = APP if replaced else ""
    return ReferReceived(leg, party, replaces=True, replaced=replaced, replaced_app=app)


def arrival(replaced: str = PEER, account: str = "acme") -> ReplacementArrived:
    return ReplacementArrived(ARRIVED, replaced, account, CAROL)


def referring(party: str = CAROL) -> Story:
    """Return the call of the REFER: Bob's phone, which holds main, has sent it."""
    story = bridged_call(BOB, action=say())
    story.take(LegHeldByPhone(PEER))
    story.take(refer(party=party), 10_000)
    story.take(LegCreated(TARGET), 5)
    return story


def arriving(replaced: str = PEER) -> Story:
    """Return the phone's other call, in which a leg has arrived in place of the phone's."""
    story = bridged_call(BOB, action=say())
    assert story.take(arrival(replaced), 10_000) == (Answer(ARRIVED),)
    assert bridged_legs(story) == {MAIN, PEER}  # they talk until the answer
    return story


def test_the_refer_starts_a_transfer_to_the_other_call() -> None:
    """The phone gets 100 and stays; the other call gets the replaced leg and the new party."""
    story = referring()
    assert AnswerRefer(PEER, True, "in-progress") in story.commands
    replaced = ReplacedLeg(P2, APP, "acme", "+4711111111")
    assert story.commands_of(Originate)[-1] == Originate(TARGET, CAROL, "", replaces=replaced)
    assert media_of(story, MAIN).sound == "music"


def test_connected_calls_mix_their_audio() -> None:
    """Either call moves to a bridge that always mixes: packets do not pass with their numbers."""
    referred, replaced = referring(), arriving()
    referred.take(LegAnswered(TARGET), 20)
    replaced.take(LegAnswered(ARRIVED), 20)
    for story, leg in ((referred, TARGET), (replaced, ARRIVED)):
        joined = media_of(story, leg).bridge
        assert is_mixed_bridge(joined)
        assert media_of(story, MAIN).bridge == joined
        assert story.commands_of(DestroyBridge)[-1].bridge != joined


def test_the_answer_of_the_other_call_completes_it() -> None:
    """The phone gets 200 and is hung up; the record does not list the party as dialled."""
    story = referring()
    commands = story.take(LegAnswered(TARGET), 20)
    assert commands[-2:] == (AnswerRefer(PEER, accepted=True), Hangup(PEER, causes.NORMAL))
    assert bridged_legs(story) == {MAIN, TARGET}
    states = [state for state, _ in transfer_events(story)]
    assert states == ["starting", "blind_transferred"]
    story.take(LegEnded(PEER, 16), 30)
    story.take(LegEnded(TARGET, 16), 5_000)
    story.take(LegEnded(MAIN, 16), 5_000)
    record = story.emitted[-1].record
    assert record is not None
    assert CAROL not in record.dialed_numbers


def test_a_party_counts_in_its_own_call_only() -> None:
    """An agent of the other call is none of this one."""
    story = referring(party="agent:1002")
    story.take(LegAnswered(TARGET), 20)
    story.take(LegEnded(PEER, 16), 30)
    story.take(LegEnded(TARGET, 16), 5_000)
    story.take(LegEnded(MAIN, 16), 5_000)
    record = story.emitted[-1].record
    assert record is not None
    assert [leg.agent_id for leg in record.legs if leg.channel_id == TARGET] == [None]


OUTCOMES: list[tuple[int, ReferOutcome]] = [
    (causes.REJECTED, ""),
    (causes.TEMPORARY_FAILURE, "unavailable"),
    (causes.NORMAL, "unavailable"),
]


@pytest.mark.parametrize(("cause", "outcome"), OUTCOMES)
def test_a_call_that_can_not_be_joined(cause: int, outcome: ReferOutcome) -> None:
    """The other call refuses, or has no engine: the parties talk on as before."""
    story = referring()
    assert AnswerRefer(PEER, False, outcome) in story.take(LegEnded(TARGET, cause), 20)
    assert story.state == "bridged"
    assert (story.call.main, transfer(story).state) == (MAIN, "failed")


def test_a_call_that_does_not_answer() -> None:
    """The phone gets the failure within ten seconds, and the Local channel is hung up."""
    story = referring()
    begin_ms = story.now
    commands = story.pass_deadline()
    assert story.now - begin_ms == 10_000
    assert AnswerRefer(PEER, False, "unavailable") in commands
    assert Hangup(TARGET, causes.NO_ANSWER) in commands


@pytest.mark.parametrize("replaced", ["", MAIN, PEER])
def test_a_refer_that_names_no_other_call(replaced: str) -> None:
    """A dialog of another server, or of this very call."""
    story = bridged_call(BOB)
    assert story.take(refer(replaced=replaced)) == (DECLINED,)
    assert bridged_legs(story) == {MAIN, PEER}


def test_a_refer_without_a_conversation_of_two() -> None:
    ringing, conference = dialing_call(BOB), in_conference()
    assert ringing.take(refer(MAIN)) == (AnswerRefer(MAIN, accepted=False),)
    assert conference.take(refer()) == (DECLINED,)
    assert transferring().take(refer()) == (DECLINED,)


@pytest.mark.parametrize("party", ["", BOB, "+4711111111"])
def test_the_other_party_may_have_any_number(party: str) -> None:
    """It is not dialled: two parties of one company may have the same number."""
    story = bridged_call(BOB)
    story.take(refer(party=party))
    assert transfer(story).state == "starting"


def test_a_withheld_number_stays_in_its_call() -> None:
    story = bridged_call(BOB)
    legs = tuple(replace(leg, is_caller=leg.id == MAIN) for leg in story.call.legs)
    story.call = replace(story.call, privacy=True, legs=legs)
    story.take(refer())
    replaced = story.commands_of(Originate)[-1].replaces
    assert replaced is not None
    assert replaced.party == ""


@pytest.mark.parametrize(("replaced", "other"), [(PEER, MAIN), (MAIN, PEER)])
def test_a_leg_takes_the_place_of_another(replaced: str, other: str) -> None:
    """It is answered and talks to the other party; the phone's leg is hung up."""
    story = arriving(replaced)
    commands = story.take(LegAnswered(ARRIVED), 10)
    assert Hangup(replaced, causes.NORMAL) in commands
    assert not [each for each in commands if isinstance(each, AnswerRefer)]
    story.take(LegEnded(replaced, 16), 20)
    assert (story.call.main, bridged_legs(story)) == (other, {other, ARRIVED})
    assert transfer(story).state == "blind_transferred"
    assert [e.party for e in story.emitted if e.event == "leg-initiated"][-1] == CAROL


@pytest.mark.parametrize("by_main", [False, True])
def test_a_leg_inherits_the_role_of_the_one_it_replaces(by_main: bool) -> None:
    """Whoever was called remains the callee: the phone here, or the party that stays."""
    story = bridged_call(BOB)
    story.call = replace(
        story.call,
        legs=tuple(replace(leg, is_caller=(leg.id == MAIN)) for leg in story.call.legs),
    )
    story.take(arrival(MAIN if by_main else PEER))
    story.take(LegAnswered(ARRIVED), 10)
    story.take(LegEnded(MAIN if by_main else PEER, 16), 20)
    story.take(LegEnded(ARRIVED, 16), 5_000)
    story.take(LegEnded(PEER if by_main else MAIN, 16), 20)
    assert story.call.ended_by == ("caller" if by_main else "callee")
    assert story.call.ended_by_leg == ARRIVED


IMPOSSIBLE = [
    (bridged_call(BOB), arrival(account="other")),
    (bridged_call(BOB), arrival(replaced=P2)),
    (dialing_call(BOB), arrival(replaced=MAIN)),
    (in_conference(), arrival()),
    (transferring("ringback"), arrival()),
]


@pytest.mark.parametrize(("story", "event"), IMPOSSIBLE)
def test_what_is_impossible_is_refused(story: Story, event: ReplacementArrived) -> None:
    """Another account, an unknown leg, no conversation of two: nothing changes but its hangup."""
    before = story.call
    assert story.take(event) == REFUSED
    assert story.call == before


def test_a_call_at_its_limit_refuses() -> None:
    """Further legs would only hide how the call began."""
    story = bridged_call(BOB, action=say())
    for replacements, is_refused in ((MAX_REPLACEMENTS - 1, False), (MAX_REPLACEMENTS, True)):
        at_limit = Story(replace(story.call, replacements=replacements), story.now)
        commands = at_limit.take(arrival())
        assert (commands == REFUSED) is is_refused
        assert at_limit.call.replacements == MAX_REPLACEMENTS


def test_an_ended_call_refuses() -> None:
    story = bridged_call(BOB)
    for leg in (MAIN, PEER):
        story.take(LegEnded(leg, 16), 10)
    assert story.call.is_ended
    assert story.take(arrival()) == REFUSED


@pytest.mark.parametrize("is_over", [False, True])
def test_a_leg_that_is_reported_twice(is_over: bool) -> None:
    """By its event and by a recovery, perhaps after its end: the second report changes nothing."""
    story = arriving()
    if is_over:
        story.take(LegEnded(ARRIVED, 16), 10)
    before = story.call
    assert story.take(arrival()) == ()
    assert story.call == before


def test_the_leg_that_arrived_ends_before_its_answer() -> None:
    """As when the customer hangs up: the phone keeps its party."""
    story = arriving()
    story.take(LegEnded(ARRIVED, 16), 10)
    assert bridged_legs(story) == {MAIN, PEER}
    assert transfer(story).state == "failed"


@pytest.mark.parametrize("state", ["Ring", "Up", None])
def test_an_engine_dies_before_the_answer(state: str | None) -> None:
    """The next one answers the leg, learns of its answer, or of its end."""
    story = arriving()
    channels = {MAIN: "Up", PEER: "Up"} | ({ARRIVED: state} if state else {})
    snapshot = PbxSnapshot(channels=channels)
    again, events = reconcile(story.call, outbox(story, Answer), snapshot, NOW + 20_000)
    assert (Answer(ARRIVED) in again) == (state == "Ring")
    for event in events:
        story.take(event)
    expected = {"Ring": "starting", "Up": "blind_transferred", None: "failed"}
    assert transfer(story).state == expected[state]
    if state == "Up":
        assert bridged_legs(story) == {MAIN, ARRIVED}
