"""Rows of a call record."""

from typing import Any

import msgspec
import pytest

from api.cdrs.row_mapping import agent_rows, cdr_row, is_answered, label, participant_numbers
from api.cdrs.schemas import split_names
from tests.harness.api.cdrs.records import CUSTOMER, NOON_MS, OURS, leg, missed, record, recording

INBOUND: dict[str, Any] = {
    "direction": "inbound",
    "from_": CUSTOMER,
    "to": OURS,
    "caller_id": CUSTOMER,
}
CALLER = leg(CUSTOMER)


def test_an_outbound_call_is_answered_when_its_party_did() -> None:
    """Whichever party it was."""
    assert is_answered(record(1))
    assert not is_answered(missed(1))
    assert not is_answered(record(1, status="failed"))


def test_an_inbound_call_is_answered_by_people() -> None:
    """The IVR's answer counts only without a dialled party; a voicemail does not count."""
    agent, absent = leg("agent:7"), leg("agent:8", talked_ms=0)
    assert is_answered(record(1, **INBOUND, legs=(CALLER, absent, agent)))
    assert not is_answered(record(1, **INBOUND, legs=(CALLER, absent)))
    on_hold = msgspec.structs.replace(absent, hold_ms=1)
    assert is_answered(record(1, **INBOUND, legs=(CALLER, on_hold)))
    assert is_answered(record(1, **INBOUND, legs=(CALLER,)))
    voicemail = (recording("voicemail"),)
    assert not is_answered(record(1, **INBOUND, legs=(CALLER,), recordings=voicemail))
    assert not is_answered(missed(1, **INBOUND))


def test_a_screened_party_has_not_answered() -> None:
    """It answered, but was never connected; of an outbound call, its party's answer counts."""
    screened = msgspec.structs.replace(
        leg("agent:7", talked_ms=0, agent_id="7"), answered_ms=NOON_MS + 2_000
    )
    call = record(1, **INBOUND, legs=(CALLER, screened))
    assert not is_answered(call)
    assert [each.is_answered for each in agent_rows(call)] == [False]
    assert [each.is_answered for each in agent_rows(record(1, legs=(screened,)))] == [True]


def test_labels_come_before_custom_data() -> None:
    """Only texts are labels."""
    call = record(1, labels={"clientId": "a"}, custom_data={"clientId": "b", "obdType": 7})
    assert label(call, "clientId") == "a"
    assert label(call, "obdType") is None
    assert label(record(1, custom_data={"clientId": "b"}), "clientId") == "b"
    assert cdr_row(record(1))["call_path"] == "outbound"
    assert cdr_row(record(1, labels={"callPath": "ivr"}))["call_path"] == "ivr"


@pytest.mark.parametrize(
    "name", ["山田\u3000太郎", "Nina\u00a0Berg", "\u0639\u0644\u200c\u0631", "\u200fא", "\u3000Per"]
)
def test_names_stay_as_they_are(name: str) -> None:
    """Filters look for them so; only control characters and halves of surrogate pairs are lost."""
    legs = (leg("agent:7", agent_id="7", agent_name=f"\x00{name}\n\ud800\x7f"),)
    call = record(1, custom_data={"clientId": f"\t{name}\udfff"}, legs=legs)
    assert label(call, "clientId") == name
    assert [each.agent_name for each in agent_rows(call)] == [name]
    assert split_names(name) == (name,)


def test_a_lost_recording_is_ignored() -> None:
    """A lost recording cannot be played."""
    call = record(1, recordings=(recording("call"), recording("voicemail")))
    assert (cdr_row(call)["has_recording"], cdr_row(call)["has_voicemail"]) == (True, True)
    lost = [type(each)(each.url, each.purpose, "lost") for each in call.recordings]
    row = cdr_row(record(1, recordings=tuple(lost)))
    assert (row["has_recording"], row["has_voicemail"]) == (False, False)


def test_an_agents_legs_are_added_up() -> None:
    """One row per agent; the id replaces a missing name."""
    first = leg("agent:7", talked_ms=0, agent_id="7")
    again = leg("agent:7", agent_id="7", agent_name="Nina")
    again = msgspec.structs.replace(again, hold_ms=500)
    seven, eight = agent_rows(record(1, legs=(first, again, leg("agent:8", agent_id="8"))))
    assert (seven.agent_name, seven.is_answered) == ("Nina", True)
    assert (seven.ring_ms, seven.talk_ms, seven.hold_ms) == (4_000, 30_000, 500)
    assert eight.agent_name == "8"


def test_all_participants_are_found() -> None:
    """Dialled numbers are marked; agents have no number."""
    call = record(1, legs=(leg(CUSTOMER), leg("agent:7"), leg("+4799")))
    assert participant_numbers(call) == {OURS: False, CUSTOMER: True, "+4799": False}
    written = record(1, caller_id="", to="2193 0000", dialed_numbers=("2222 2222",), legs=())
    assert participant_numbers(written, "NO") == {OURS: False, CUSTOMER: True}
