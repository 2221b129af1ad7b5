"""The call record, which the completed event carries: parties, times, sessions."""

import msgspec
import pytest

from engine.calls.model.call_states import Dialing
from engine.calls.model.events import (
    AgentNamed,
    CallOpened,
    LegAnswered,
    LegCreated,
    LegEnded,
    LegRinging,
    Recovered,
)
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.requests import HangupRequested, HoldRequested, TransferRequested
from engine.calls.reporting.call_record import build_call_record
from engine.calls.reporting.ended_legs import MAX_HISTORY
from tests.harness.calls.builders import (
    CHANNEL,
    HTTPS,
    ID,
    MAIN,
    NOW,
    Story,
    answered_call,
    bridged_call,
    dialing_call,
    inbound,
    outbound,
    say,
)
from tests.harness.calls.call_records import record
from tests.harness.calls.control import (
    BOB,
    CAROL,
    PEER,
    TARGET,
    in_conference,
    progress,
    transferring,
)
from wire.events.record import CallRecord, TakeoverRecord
from wire.media import MediaFault
from wire.party import Diversion


def ended(story: Story) -> CallRecord:
    """Hang up all legs and return the record."""
    story.hang_up()
    return record(story)


def test_engines_that_took_the_call_over() -> None:
    """Another connection of the same engine is none; the latest ones are kept."""
    story = answered_call(say())
    story.take(Recovered(uncontrolled_ms=400))
    for number in range(21):
        story.take(Recovered(engine=f"e{number}", uncontrolled_ms=1_900))
    recovered_ms = story.now
    found = ended(story).takeovers
    assert found[0] == TakeoverRecord(recovered_ms, "e1", 1_900)
    assert [each.engine for each in found] == [f"e{number}" for number in range(1, 21)]


def test_privacy_and_diversion() -> None:
    """Every event of the call and its record report them; other calls omit both."""
    diversion = (Diversion("+4711111111", "no-answer"),)
    story = answered_call(say(), privacy=True, diversion=diversion)
    cdr = ended(story)
    assert (cdr.privacy, cdr.diversion) == (True, diversion)
    assert {(each.privacy, each.diversion) for each in story.emitted} == {(True, diversion)}
    assert b'"privacy"' not in msgspec.json.encode(ended(answered_call(say())))


def test_the_first_audio_that_failed() -> None:
    """The record names it, though the call went on; other records omit it."""
    story = answered_call({"type": "play", "data": {"audioUrl": HTTPS}, "action": say()})
    first, second = MediaFault(HTTPS, "not_found"), MediaFault("hello", "timeout")
    for fault in (first, second):
        request = story.commands_of(FetchMedia)[-1].request
        story.take(MediaFetched(request, (), (), (fault,)))
    assert story.call.first_media_fault == first
    cdr = ended(story)
    assert (cdr.status, cdr.media_fault) == ("completed", first)
    assert b'"mediaFault"' not in msgspec.json.encode(ended(answered_call(say())))


def test_a_record_without_details() -> None:
    """Fields that do not apply are null in its JSON, not empty texts or zeros."""
    cdr = ended(answered_call(say()))
    absent = (cdr.sip_code, cdr.reason, cdr.answered_by, cdr.agent_id, cdr.reference_id)
    assert absent == (None,) * 5
    assert cdr.legs[0].sip_code is None


def test_record_of_a_conversation() -> None:
    """Ids, parties, times and both legs."""
    cdr = ended(bridged_call(BOB, action=say(), labels={"clientId": "c-7"}))
    assert (cdr.call_id, cdr.account_id, cdr.node, cdr.slot) == (ID, "acme", "pbx1", 0)
    assert (cdr.direction, cdr.from_, cdr.to, cdr.caller_id) == (
        "outbound", "+4799", "+4711111111", "+4799",
    )  # fmt: skip
    assert cdr.dialed_numbers == ("+4711111111", BOB)
    assert (cdr.status, cdr.ended_by, cdr.hangup_cause) == ("completed", "callee", 16)
    assert (cdr.created_ms, cdr.answered_ms) == (NOW, NOW + 5_000)
    assert (cdr.ring_ms, cdr.talk_ms, cdr.hold_ms, cdr.wait_ms) == (5_000, 100, 0, 2_010)
    assert (cdr.answered_duration_ms, cdr.answered_duration) == (2_110, 3)
    main, bob = cdr.legs
    assert (main.channel_id, main.party, main.status) == (MAIN, "+4711111111", "completed")
    assert (bob.party, bob.ring_ms, bob.talk_ms, bob.answered_ms) == (BOB, 2_000, 100, NOW + 7_000)
    assert cdr.labels == {"clientId": "c-7"}


def test_legs_are_ordered_by_request() -> None:
    """In whatever order they end."""
    story = bridged_call(BOB, action=say())
    story.take(LegEnded(MAIN, 16), 10)
    for leg in story.call.legs:
        story.take(LegEnded(leg.id, 16), 10)
    other = bridged_call(BOB, action=say())
    other.hang_up()
    for leg in reversed(other.call.legs):
        other.take(LegEnded(leg.id, 16), 10)
    for cdr in (record(story), record(other)):
        assert [leg.channel_id for leg in cdr.legs] == [MAIN, PEER]
        assert cdr.dialed_numbers == ("+4711111111", BOB)


def test_time_on_hold_counts_once() -> None:
    """A leg's holds are added up; the call was on hold while any leg was."""
    story = bridged_call(BOB)
    story.take(HoldRequested(MAIN, held=True), 1_000)
    story.take(HoldRequested(PEER, held=True), 500)
    story.take(HoldRequested(MAIN, held=False), 500)
    story.take(HoldRequested(PEER, held=False), 1_000)
    story.take(HoldRequested(MAIN, held=True), 1_000)
    cdr = ended(story)
    assert cdr.hold_ms == 2_100  # 2,000, and the 100 until the hangup
    assert [leg.hold_ms for leg in cdr.legs] == [1_100, 1_500]


def test_a_hold_ends_with_its_leg() -> None:
    """A leg that hangs up on hold was on hold until then."""
    story = bridged_call(BOB, action=say())
    story.take(HoldRequested(PEER, held=True), 1_000)
    story.take(LegEnded(PEER, 16), 3_000)
    story.take(HangupRequested("api"), 2_000)
    cdr = ended(story)
    assert cdr.hold_ms == 3_000
    assert cdr.ended_by == "api"


def test_an_unanswered_call() -> None:
    """Its main leg has the call's own status."""
    story = Story(outbound())
    story.take(CallOpened())
    story.take(LegCreated(MAIN), 100)
    story.take(LegRinging(MAIN), 200)
    story.take(LegEnded(MAIN, 17, 486), 9_700)
    cdr = record(story)
    assert (cdr.status, cdr.sip_code, cdr.ring_ms, cdr.talk_ms) == ("busy", 486, 10_000, 0)
    (leg,) = cdr.legs
    assert (leg.status, leg.ring_ms, leg.sip_code) == ("busy", 9_900, 486)


def test_a_caller_who_hangs_up_early() -> None:
    """An unanswered inbound call is canceled, and so is its leg."""
    story = Story(inbound())
    story.take(CallOpened())
    story.take(LegEnded(CHANNEL, 16), 3_000)
    cdr = record(story)
    assert (cdr.status, cdr.legs[0].status) == ("canceled", "canceled")
    assert cdr.dialed_numbers == ("+4733333333",)
    assert cdr.caller_id == "+4722222222"


def test_agents_are_named() -> None:
    """A leg has its agent, its reference and the agent's name from the session."""
    story = dialing_call(data={"agent_id": "7", "reference_id": "ref-1"})
    story.take(LegAnswered(PEER), 2_000)
    request = TransferRequested("attended", PEER, MAIN, "agent:9", target_name="Nina")
    story.take(request, 1_000)
    progress(story, TARGET, "ringback")
    cdr = ended(story)
    _main, agent, target = sorted(cdr.legs, key=lambda leg: leg.channel_id)
    assert (agent.agent_id, agent.reference_id, agent.agent_name) == ("7", "ref-1", None)
    assert (target.agent_id, target.agent_name, target.status) == ("9", "Nina", "canceled")
    assert cdr.dialed_numbers == ("+4711111111",)


def test_a_name_of_the_directory() -> None:
    """The record has it unless the request that called the agent gave another."""
    story = dialing_call(data={"agent_id": "7"})
    story.take(AgentNamed(PEER, "Nina Berg"), 0)
    story.take(LegAnswered(PEER), 2_000)
    request = TransferRequested("attended", PEER, MAIN, "agent:9", target_name="Per")
    story.take(request, 1_000)
    story.take(AgentNamed(TARGET, "Per Olav Lie"), 0)
    progress(story, TARGET, "ringback")
    _main, agent, target = sorted(ended(story).legs, key=lambda leg: leg.channel_id)
    assert (agent.agent_name, target.agent_name) == ("Nina Berg", "Per")


def test_sessions_are_recorded() -> None:
    """Each transfer and each conference, with its members."""
    (transfer,) = ended(transferring("answered")).transfers
    assert (transfer.mode, transfer.party, transfer.state) == ("attended", CAROL, "abandoned")
    assert transfer.source_agent_id == "7"
    nameless = ended(transferring("answered", target_name="", source_agent=""))
    assert nameless.legs[-1].agent_name is None
    assert (nameless.transfers[0].source_agent_id, nameless.transfers[0].target_name) == (
        None,
        None,
    )
    (conference,) = ended(in_conference()).conferences
    assert conference.state == "completed"
    assert [member.agent_name for member in conference.members] == [None, None, "Carol"]


def test_digits_are_recorded() -> None:
    """What each gather collected, on which leg, and why it ended."""
    story = answered_call({"type": "gather", "data": {"maxDigits": 2}})
    story.press("4")
    story.press("2")
    (gathered,) = ended(story).gathered
    assert (gathered.dtmf, gathered.reason, gathered.channel_id) == ("42", "max-digits", MAIN)


def test_a_call_with_very_many_legs() -> None:
    """The first ones are counted, not listed: a call's state must stay small."""
    numbers = [f"+47{10_000_000 + place}" for place in range(10)]
    tree: object = None
    for _ in range(12):
        tree = {"type": "dial", "data": {"number": numbers}, "action": tree or say()}
    story = answered_call(tree)
    while story.state == "dialing":
        for leg in story.call.legs[1:]:
            story.take(LegEnded(leg.id, 19), 10)
    cdr = ended(story)
    assert len(cdr.legs) == MAX_HISTORY
    assert cdr.legs_omitted == 12 * 10 + 1 - MAX_HISTORY


@pytest.mark.parametrize("verb", ["dial", "flow"])
def test_tracking_values_stay_from_their_verb_on(verb: str) -> None:
    """agent_id and reference_id of a dial or a flow are in every later event and in the record."""
    where = {"number": BOB} if verb == "dial" else {"flowId": "menu"}
    data = {**where, "agent_id": "ann@example.com", "reference_id": "order 9"}
    story = answered_call({"type": verb, "data": data})
    before = [each for each in story.emitted if each.event in {"initiated", "answered"}]
    assert [(each.agent_id, each.reference_id) for each in before] == [(None, None)] * 2
    kept = ended(story)
    late = story.emitted[len(before) :]
    assert late[-1].event == "completed"
    assert {(each.agent_id, each.reference_id) for each in late} == {("ann@example.com", "order 9")}
    assert (kept.agent_id, kept.reference_id) == ("ann@example.com", "order 9")


def test_events_about_another_agent_have_its_id() -> None:
    """The id of the agent that the dial named stays with its own leg."""
    story = dialing_call(data={"agent_id": "7"})
    leg = story.state_as(Dialing).legs[0]
    story.take(LegAnswered(leg), 100)
    request = TransferRequested("attended", source=leg, customer=story.call.main, party="agent:9")
    story.take(request, 100)
    target = story.call.legs[-1].id
    story.take(LegCreated(target), 10)
    story.take(LegRinging(target), 10)
    about = [each for each in story.emitted if each.channel_id == target]
    assert {each.agent_id for each in about if each.event.startswith("leg-")} == {"9"}
    assert {each.agent_id for each in about if each.event == "transfer"} == {"7"}  # its source


def test_the_last_tracking_values_count() -> None:
    """A dial with its own values replaces those of the dial before; one without keeps them."""
    second = {"type": "dial", "data": {"number": CAROL, "reference_id": "two"}}
    third = {"type": "dial", "data": {"number": CAROL}}
    story = dialing_call(
        data={"number": BOB, "agent_id": "7", "reference_id": "one"},
        action={**second, "action": third},
    )
    for expected in (("7", "one"), (None, "two"), (None, "two")):
        leg = story.state_as(Dialing).legs[0]
        event = next(each for each in story.emitted if each.channel_id == leg)
        assert (event.agent_id, event.reference_id) == expected
        story.take(LegEnded(leg, 17), 1_000)


def test_a_clock_that_goes_back() -> None:
    """No time is below zero: another engine's clock may be some milliseconds behind."""
    story = answered_call(say())
    story.take(LegEnded(MAIN, 16), -50)
    found = story.emitted[-1].record
    assert found is not None
    (leg,) = found.legs
    times = (leg.ring_ms, leg.talk_ms, leg.hold_ms, leg.wait_ms, leg.answered_duration_ms)
    assert times == (5_000, 0, 0, 0, 0)
    assert (found.answered_duration_ms, found.answered_duration) == (0, 0)


def test_no_time_is_below_zero() -> None:
    """The clock of an engine that takes a call over may be behind."""
    story = Story(inbound(say()))
    story.now -= 50
    story.take(LegAnswered(CHANNEL))
    story.hang_up()
    cdr = build_call_record(story.call)
    assert (cdr.ring_ms, cdr.legs[0].ring_ms) == (0, 0)
