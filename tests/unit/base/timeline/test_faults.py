"""What went wrong in a call: each fault is a sentence at the row where it shows."""

from typing import Any

import pytest
from msgspec.structs import replace

from base.timeline.timers import Moment
from tests.harness.timelines import timeline_of
from tests.unit.base.timeline.stories import LIVE, OPENED, Step, story, words
from wire.views import Timeline, TimelineFault

SENT: Step = (
    {"type": "leg-answered", "leg": "a"},
    [{"type": "send-webhook", "request": "r0", "url": "https://shop.example/call",
      "body": {"event": "start"}}],
    "awaiting-instructions",
)  # fmt: skip


def faults(found: Timeline) -> list[TimelineFault]:
    return [each.fault for each in found.rows if each.fault is not None]


def ended(**facts: Any) -> Step:
    """Return the end of the leg that was called."""
    return {"type": "leg-ended", "leg": "l0", "sip_code": 0, "reason": "", **facts}, [], "ending"


@pytest.mark.parametrize(
    ("reason", "words", "code"),
    [
        ("not_json: the body is not JSON", "did not return JSON", "not_json"),
        ("timeout", "did not respond in time", "timeout"),
        ("connect: refused", "cannot be reached", "connect"),
        ("status_500", "responded with status 500", "status_nnn"),
        ("invalid_action: action.type: unknown",
         "returned an action that is not valid: action.type: unknown", "invalid_action"),
        ("redirect: 302", "redirected the request, which is not followed", "redirect"),
        ("gone", "gave no usable response: gone", "gone"),
    ],
)  # fmt: skip
def test_each_way_in_which_a_server_fails(reason: str, words: str, code: str) -> None:
    """It has its words and its code; of another request the server is not known."""
    failed: Step = ({"type": "action-failed", "request": "r0", "reason": reason}, [], "ending")
    text = f"The server at https://shop.example/call {words}."
    assert faults(story(OPENED, SENT, failed)) == [TimelineFault(text, code)]
    assert faults(story(OPENED, failed)) == [TimelineFault(f"A server {words}.", code)]


def test_a_flow_that_fails() -> None:
    load: Step = (
        {"type": "leg-answered", "leg": "a"},
        [{"type": "load-flow", "request": "r1", "flow_id": "f"}],
        "awaiting-instructions",
    )
    failed: Step = ({"type": "action-failed", "request": "r1", "reason": "no flow"}, [], "ending")
    (fault,) = faults(story(OPENED, load, failed))
    assert fault.text == "The flow gave no usable response: no flow."


@pytest.mark.parametrize(
    ("party", "facts", "text", "code"),
    [
        ("agent:7", {"cause": 41, "reason": "unavailable"},
         "The phone of agent 7 is not registered: it is off, or cannot sign in.", "agent_offline"),
        ("agent:7", {"cause": 41},
         "The phone of agent 7 is not registered: it is off, or cannot sign in.", "agent_offline"),
        ("agent:7", {"cause": 17, "sip_code": 486}, "The phone of agent 7 is busy (SIP 486).",
         "not_answered"),
        ("+47", {"cause": 99}, "+47 did not answer: unknown information element (99).",
         "not_answered"),
        ("+47", {"cause": 21, "reason": "do_not_call"},
         "+47 was not called: it is on the do-not-call list (do_not_call).", "do_not_call"),
        ("+47", {"cause": 1, "sip_code": 404}, "+47 is no number that exists (SIP 404).",
         "unallocated_number"),
    ],
)  # fmt: skip
def test_a_party_that_does_not_answer(
    party: str, facts: dict[str, Any], text: str, code: str
) -> None:
    calls = {"type": "originate", "leg": "l0", "party": party, "caller_id": ""}
    opened: Step = ({"type": "call-opened"}, [calls], "starting")
    assert faults(story(opened, ended(**facts))) == [TimelineFault(text, code)]


def test_a_party_that_the_engine_itself_hangs_up_is_no_fault() -> None:
    hangs_up = {"type": "hangup", "leg": "l0", "cause": 16}
    ends: Step = ({"type": "hangup-requested", "by": "api"}, [hangs_up], "ending")
    assert faults(story(OPENED, ends, ended(cause=16, sip_code=487))) == []


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (["leg-ringing"], ["+1555 rang, and did not answer in time."]),
        ([], ["+1555 never rang: the server or the network behind it sent no response in time."]),
        (["leg-ringing", "leg-answered"], []),
    ],
)
def test_a_party_that_did_not_answer_in_time(events: list[str], expected: list[str]) -> None:
    """It rang, or nothing responded."""
    before: list[Step] = [({"type": each, "leg": "l0"}, [], "starting") for each in events]
    hangs_up = {"type": "hangup", "leg": "l0", "cause": 19}
    late: Step = ({"type": "deadline-passed"}, [hangs_up], "ending")
    found = story(OPENED, *before, late, ended(cause=19, sip_code=480))
    assert [each.text for each in faults(found)] == expected


def test_a_prompt_that_does_not_exist_is_named() -> None:
    source = "https://shop.example/none.wav"
    fetched = {
        "type": "media-fetched", "faults": ["not_found: HTTP status 404"],
        "failed": [{"source": source, "reason": "not_found"}],
    }  # fmt: skip
    found = story(OPENED, (fetched, [], "playing"))
    text = f"The prompt at {source} cannot be fetched: it does not exist there (HTTP status 404)."
    assert faults(found) == [TimelineFault(text, "not_found")]
    assert words(found)[-1] == f"audio is not available: not_found: HTTP status 404, {source}"


def test_values_that_do_not_fit_a_flows_node_are_named() -> None:
    """The node has a row of its own, which says whether it runs."""
    fault = "nodes.hi.data.text: empty once filled in"
    node = {"type": "say", "data": {"text": "1"}}
    loaded = {
        "type": "flow-node-loaded", "name": "hi", "node": node, "faults": [fault],
        "is_skipped": True,
    }  # fmt: skip
    found = story(OPENED, (loaded, [], "playing"))
    assert words(found)[1:] == [f"a value does not fit: {fault}", "node hi does not run"]
    text = f"A value in a node of a flow does not fit: {fault}."
    assert faults(found) == [TimelineFault(text, "invalid")]


def test_the_reason_of_a_calls_end_is_said_if_nothing_else_says_it() -> None:
    """At the row of the end."""
    call = replace(LIVE, ended_ms=5000, reason="bridge_failed")
    moment = Moment(2000, {"type": "bridge-failed", "reason": "gone"}, (), "ending")
    assert [each.code for each in faults(timeline_of(call, []))] == ["bridge_failed"]
    (fault,) = faults(timeline_of(call, [moment]))
    assert fault.text == "The PBX could not connect the parties: gone."
