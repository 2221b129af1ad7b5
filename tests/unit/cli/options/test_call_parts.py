"""Short names of channels, members and sessions."""

import pytest
from msgspec.structs import replace

from cli.errors import UsageError
from cli.options.call_parts import leg_of, member_of, stream_of, transfer_of
from tests.harness.cli.controlled_call import ADA, CALL, FIRST, MAIN, PHONE, SECOND
from wire.views import CallStreams, StreamView


@pytest.mark.parametrize(
    ("named", "channel"),
    [
        ("main", MAIN),
        ("+15550077", MAIN),
        ("15550077", MAIN),
        (MAIN, MAIN),
        ("ada", ADA),
        ("1001", ADA),
        ("agent:1001", ADA),
        ("l0", ADA),
        ("desk", PHONE),
        ("sip:desk@10.0.0.1:5062", PHONE),
        ("2", PHONE),
    ],
)
def test_a_channel_has_short_names(named: str, channel: str) -> None:
    """Main, an agent's id, a party with and without its frills, and the end of the id."""
    assert leg_of(CALL, named).channel_id == channel
    assert member_of(CALL, named).channel_id == channel


@pytest.mark.parametrize("named", ["bob", ""])
def test_what_is_no_channel_shows_which_there_are(named: str) -> None:
    """The fault lists each channel with its names."""
    with pytest.raises(UsageError) as fault:
        leg_of(CALL, named)
    first, *there = str(fault.value).splitlines()
    assert first == f"no channel of call {CALL.call_id} matches “{named}”; choices:"
    assert there[1] == f"  {ADA}, ada, 1001, agent:1001"


def test_a_name_before_the_end_of_an_id() -> None:
    """What is a name of one is not taken for another's ending."""
    legs = (*CALL.legs, replace(CALL.legs[2], channel_id="x.ada", party="+1"))
    assert leg_of(replace(CALL, legs=legs), "ada").channel_id == ADA


def test_a_name_of_several_is_refused() -> None:
    """The fault lists those that may be meant."""
    twice = replace(CALL, legs=(*CALL.legs, replace(CALL.legs[1], channel_id="x.l0")))
    with pytest.raises(UsageError) as fault:
        leg_of(twice, "ada")
    assert str(fault.value).splitlines()[1:] == [f"  {ADA}", "  x.l0"]


def test_a_call_without_legs_has_none_to_name() -> None:
    """One that is over says so."""
    with pytest.raises(UsageError, match="there is no channel of call"):
        leg_of(replace(CALL, legs=()), "main")


def test_a_transfer_is_the_latest_unless_named() -> None:
    """The end of its id is enough; without any there is advice."""
    assert transfer_of(CALL, "") == SECOND
    assert transfer_of(CALL, "t1") == FIRST
    with pytest.raises(UsageError, match=r"no transfer of call .* matches “t9”"):
        transfer_of(CALL, "t9")
    with pytest.raises(UsageError, match="starts one"):
        transfer_of(replace(CALL, transfers=()), "")


def test_without_a_conference_there_is_advice() -> None:
    """It says how one is made."""
    with pytest.raises(UsageError, match="`switchroom conference add` starts one"):
        member_of(replace(CALL, conferences=()), "main")


@pytest.mark.parametrize("named", ["bot.example", "bot.example:8443", "l0.w2", "w2"])
def test_a_stream_has_the_host_of_its_bot(named: str) -> None:
    """The port may be left out."""
    view = CallStreams(
        "l0",
        (
            StreamView("l0.w1", "wss://ear.example/", "native", "connected", True, "both", 1),
            StreamView("l0.w2", "wss://bot.example:8443/x", "twilio", "starting", False, "both", 1),
        ),
    )
    assert stream_of(view, named).stream_id == "l0.w2"
