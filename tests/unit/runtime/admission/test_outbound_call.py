"""Click-to-call, both forms."""

from typing import Any

import pytest

from engine.calls.model.call import Call
from engine.calls.model.call_states import Starting
from engine.calls.model.recording import RecordingDestination
from engine.runtime.admission.config import NewCall
from engine.runtime.admission.outbound import outbound_call
from tests.harness.calls.builders import HTTPS, ID, NOW, say, tree
from wire import verbs
from wire.answer_detection import Detection, MachineDetection
from wire.rpc import AnsweredDetection, Originate


def build(**fields: Any) -> Call:
    """Build a requested call on an engine whose default caller id is 4700."""
    originate = Originate(**{"account": "acme", "from_": "+4799", "to": "+4711", **fields})
    return outbound_call(NewCall(ID, NOW, NOW + 9, trunks=3), originate, "4700")


def action_of(call: Call) -> verbs.Action | None:
    """Return the first action."""
    assert isinstance(call.state, Starting)
    return call.state.action


def test_the_simple_form_calls_to_and_runs_the_action() -> None:
    """`to` is called showing `from`, then the action runs on that leg."""
    call = build(action=tree(say()), timeout=20, labels={"a": "b"}, custom_data={"n": 1})
    assert [leg.party for leg in call.legs] == ["+4711"]
    assert call.caller_id == "+4799"
    assert call.state == Starting(tree(say()), NOW + 20_000)
    assert (call.main, call.id_seq, call.trunks) == (f"{ID}.l0", 1, 3)
    assert (call.created_ms, call.must_end_ms) == (NOW, NOW + 9)
    assert (call.labels, call.custom_data) == ({"a": "b"}, {"n": 1})


def test_from_first_calls_from_and_dials_to() -> None:
    """`from` is called first, then `to` is dialled; the action is that dial's nested action."""
    call = build(from_="agent:7", from_first=True, action=HTTPS, timeout=20)
    assert [leg.party for leg in call.legs] == ["agent:7"]
    assert call.caller_id == "4700"
    assert action_of(call) == verbs.Dial(verbs.DialData(number="+4711"), HTTPS, 20)
    to_agent = action_of(build(from_first=True, to="agent:7"))
    assert to_agent == verbs.Dial(verbs.DialData(agent_id="7"), None, 60)


def test_the_fallback_of_a_call() -> None:
    """It is kept for the first webhook or flow, with and without a detection."""
    fallback = tree(say())
    for detection in (False, True):
        call = build(action=HTTPS, fallback=fallback, machine_detection=detection)
        assert isinstance(call.state, Starting)
        assert call.state.fallback == fallback


def test_a_flow_runs_before_the_action() -> None:
    """FlowId with an action: the flow, then the action; the contact is kept for it."""
    call = build(flow_id="menu", action=tree(say()), contact={"fName": "Ada"})
    assert action_of(call) == verbs.Flow(verbs.FlowData("menu"), tree(say()))
    assert call.contact == {"fName": "Ada"}


def test_numbers_are_those_that_lists_store() -> None:
    """In the call, its first leg, its events and its record; a short number is the carrier's."""
    new = NewCall(ID, NOW, NOW + 9, region="NO")
    request = Originate("acme", "90000001", "+370861234567", caller_id="004721930000")
    call = outbound_call(new, request, "4700")
    assert (call.from_, call.to, call.legs[0].party) == (
        "+4790000001",
        "+37061234567",
        "+37061234567",
    )
    assert (call.caller_id, call.region) == ("+4721930000", "NO")
    assert outbound_call(new, Originate("acme", "1001", "112"), "4700").to == "112"


def test_the_caller_id() -> None:
    """It is callerId, or else `from` if that is a number, or else the engine's default."""
    assert build(caller_id="4755").caller_id == "4755"
    assert build(from_="sip:bob@example.com").caller_id == "4700"


def test_machine_detection() -> None:
    """Detection runs on the leg of `to` before the first verb, with its action for machines."""
    assert build(machine_detection=True).state == Starting(None, NOW + 60_000, Detection())
    requested = AnsweredDetection(timeout=9_000, on_machine="hangup")
    state = build(machine_detection=requested).state
    assert state == Starting(None, NOW + 60_000, Detection(timeout=9_000), "hangup")
    off = build(machine_detection=AnsweredDetection(enable=False))
    assert off.state == Starting(None, NOW + 60_000)


def test_from_first_detects_on_the_dial() -> None:
    """Detection moves to the dial verb, as `from` is a person's own phone."""
    requested = AnsweredDetection(timeout=9_000, on_machine="hangup")
    call = build(from_="agent:7", from_first=True, machine_detection=requested)
    dial = action_of(call)
    assert isinstance(dial, verbs.Dial)
    assert dial.data.machine_detection == MachineDetection(timeout=9_000, on_machine="hangup")
    assert call.state == Starting(dial, NOW + 60_000)


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("has_archive", [False, True])
def test_a_recorded_call(is_recorded: bool, has_archive: bool) -> None:
    """It is recorded if it is to be, and there is an archive."""
    destination = RecordingDestination("file:///archive", "acme") if has_archive else None
    new = NewCall(ID, NOW, NOW + 9, destination)
    call = outbound_call(new, Originate("acme", "+4799", "+4711", record_call=is_recorded), "4700")
    assert call.recording_enabled is (is_recorded and has_archive)
